// The vector interface that kernels are written in: one vector of f32 lanes (F32), one of i32 lanes (I32) and one of
// truth values (Mask), with the same lane count and the same operations on every instruction set.
//
// A kernel includes this header and is compiled with -DCUVIL_SIMD=avx512|avx2|neon|scalar -ffp-contract=off (a compiler
// that fuses a multiply and an add by itself breaks the error terms of math.h); F32::kLanes is then 16, 8, 4 or 1.
// Everything is freestanding: no library, no allocation, no exceptions.
//
//   F32::splat(x) zero() load(p) load_partial(p, n) load_strided(p, step) load_strided_partial(p, step, n)
//   v.store(p) store_partial(p, n) store_strided(p, step) store_strided_partial(p, step, n)
//   + - * / unary-; fma(a, b, c) = a * b + c with one rounding (scalar without FMA hardware: through double)
//   fma_lane<k>(acc, b, a) = acc + b * a[k], one instruction where kHasLaneFma
//   min max: a NaN in either operand gives NaN, as numpy.minimum and numpy.maximum do; of -0 and +0 either may win
//   clamp(x, low, high), relu(x): one instruction a bound; a NaN x gives NaN; bounds must not be NaN
//   abs sqrt floor ceil trunc round_even copysign(magnitude, sign)
//   == != < <= > >= -> Mask, with IEEE meaning (NaN compares false, except !=); is_nan
//   Mask: & | ^ ~ any all first(n) splat(bool) load/store(_partial) from bytes (0 is false, true is stored as 1)
//   select(mask, if_true, if_false)
//   reduce_add reduce_min reduce_max over all lanes (min and max propagate NaN; the order of the sum is the ISA's own)
//   transpose(F32 (&v)[kLanes]): a square of numbers, in place
//   I32: splat load store (_partial) + - * & | ^ ~ shift_left<k> shift_right<k> (arithmetic) == != < > min max select
//   bitcast_i32 bitcast_f32 to_f32(I32) to_i32_trunc(F32) to_i32_nearest(F32) (out of range or NaN: unspecified value)
//
// Pointers need only the alignment of one element. A partial access touches exactly the first n elements, 0 <= n <=
// kLanes; lanes that are not loaded are zero.
#ifndef CUVIL_SIMD_SIMD_H
#define CUVIL_SIMD_SIMD_H

#include <stddef.h>
#include <stdint.h>

#ifndef CUVIL_SIMD
#error "compile with -DCUVIL_SIMD=avx512, avx2, neon or scalar"
#endif

#define CUVIL_INLINE inline __attribute__((always_inline))
#define CUVIL_RESTRICT __restrict__

#include "simd/one_lane.h"

#define CUVIL_SIMD_QUOTED_(path) #path
#define CUVIL_SIMD_QUOTED(path) CUVIL_SIMD_QUOTED_(path)
#include CUVIL_SIMD_QUOTED(CUVIL_SIMD.h)  // beside this file

namespace cuvil::simd {

inline constexpr int kLanes = F32::kLanes;

template <class V>
concept FloatVector = requires(V v) {
  {V::kLanes};
  v.v + 1.0f;
};

// x between two bounds; the operand order lets a NaN x through in one instruction a bound.
template <FloatVector V>
CUVIL_INLINE V clamp(V x, V low, V high) {
  return min_or_second(high, max_or_second(low, x));
}
template <FloatVector V>
CUVIL_INLINE V relu(V x) {
  return max_or_second(V::zero(), x);
}

template <FloatVector V>
CUVIL_INLINE auto is_nan(V x) {
  return x != x;
}

template <FloatVector V>
CUVIL_INLINE V copysign(V magnitude, V sign) {
  const auto sign_bit = bitcast_i32(V::splat(-0.0f));
  return bitcast_f32((bitcast_i32(magnitude) & ~sign_bit) | (bitcast_i32(sign) & sign_bit));
}

// a * 2^n for an integral n of at most 254 in size; in two steps, so that denormal results are reached.
template <FloatVector V>
CUVIL_INLINE V times_power_of_two(V a, V n) {
  const auto whole = to_i32_nearest(n);
  const auto half = shift_right<1>(whole);
  const auto bias = decltype(whole)::splat(127);
  return a * bitcast_f32(shift_left<23>(half + bias)) * bitcast_f32(shift_left<23>(whole - half + bias));
}

namespace one_lane {
using simd::times_power_of_two;  // for argument-dependent lookup, as for the vectors
}

// f applied to each lane by itself: for functions too rare to deserve a vector form.
template <FloatVector V, class Function>
CUVIL_INLINE V map_lanes(V x, Function f) {
  float lane[V::kLanes];
  x.store(lane);
  for (int i = 0; i < V::kLanes; ++i) lane[i] = f(lane[i]);
  return V::load(lane);
}

}  // namespace cuvil::simd

#endif  // CUVIL_SIMD_SIMD_H
