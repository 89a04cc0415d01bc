// sin, cos, tan and pow of f32: the functions that need more than f32 on the way. Part of math.h.
#ifndef CUVIL_SIMD_MATH_TRIG_POW_H
#define CUVIL_SIMD_MATH_TRIG_POW_H

#include "simd/math_f32.h"

namespace cuvil::math::detail {

// x = q pi/2 + r with |r| <= pi/4, q modulo 4, for finite |x| >= 1: multiplies the integer significand of x with the 96
// bits of 2/pi that matter for its exponent (Payne and Hanek's method).
inline __attribute__((noinline)) float reduce_large_angle(float x, int32_t* quadrant) {
  static constexpr uint32_t kTwoOverPi[8] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                             0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561};
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  const int exponent = static_cast<int>((bits >> 23) & 0xff) - 150;  // |x| = significand * 2^exponent
  const uint32_t significand = (bits & 0x7fffff) | 0x800000;
  const int start = exponent > 2 ? exponent - 2 : 0;  // bits before this one contribute multiples of 4 quadrants
  unsigned __int128 window = 0;
  for (int i = 0; i < 4; ++i) window = window << 32 | kTwoOverPi[start / 32 + i];
  window = window << (start % 32) >> 32;
  const int fraction_bits = 96 + start - exponent;
  const unsigned __int128 product = window * significand;
  const uint64_t fraction = static_cast<uint64_t>(product << (128 - fraction_bits) >> 64);
  const int64_t nearest = static_cast<int64_t>(fraction);  // as a two's complement number: from -1/2 to 1/2
  const int32_t q = static_cast<int32_t>(product >> fraction_bits & 3) + (nearest < 0 ? 1 : 0);
  const float r = static_cast<float>(static_cast<double>(nearest) * (0x1p-64 * 0x1.921fb54442d18p+0));
  *quadrant = x < 0 ? -q : q;
  return x < 0 ? -r : r;
}

inline constexpr float kLargeAngle = 100000.0f;

// The lanes of x beyond kLargeAngle, one at a time; infinities give NaN.
template <FloatVector V>
__attribute__((noinline)) void reduce_large_lanes(const V& x, V& r, Int<V>& quadrant) {
  float angle[V::kLanes], rest[V::kLanes];
  int32_t q[V::kLanes];
  x.store(angle);
  r.store(rest);
  quadrant.store(q);
  for (int i = 0; i < V::kLanes; ++i) {
    const float size = __builtin_fabsf(angle[i]);
    if (size == kInfinity) rest[i] = __builtin_nanf("");
    if (size > kLargeAngle && size < kInfinity) rest[i] = reduce_large_angle(angle[i], &q[i]);
  }
  r = V::load(rest);
  quadrant = Int<V>::load(q);
}

template <FloatVector V>
CUVIL_INLINE V reduce_by_half_pi(V x, Int<V>& quadrant) {
  const V n = round_even(x * V::splat(0x1.45f306p-1f));
  quadrant = to_i32_nearest(n);
  V r = fma(n, V::splat(-kHalfPiHigh), x);
  r = fma(n, V::splat(-kHalfPiMiddle), r);
  r = fma(n, V::splat(-kHalfPiLow), r);
  if (any(abs(x) > V::splat(kLargeAngle))) reduce_large_lanes(x, r, quadrant);
  return r;
}

// sin(r) and cos(r) for |r| <= pi/4.
template <FloatVector V>
CUVIL_INLINE V sin_reduced(V r) {
  const V square = r * r;
  const V p = polynomial(square, -0x1.555556p-3f, 0x1.111174p-7f, -0x1.a0595ap-13f, 0x1.7c30fap-19f);
  return fma(square * r, p, r);
}
template <FloatVector V>
CUVIL_INLINE V cos_reduced(V r) {
  const V square = r * r;
  const V p = polynomial(square, 0x1.555556p-5f, -0x1.6c175ep-10f, 0x1.a071bep-16f, -0x1.361852p-22f);
  const V half = V::splat(0.5f) * square;
  const V head = V::splat(1.0f) - half;
  return head + fma(square * square, p, (V::splat(1.0f) - head) - half);
}

// sin(x + turns * pi/2).
template <FloatVector V>
CUVIL_INLINE V sin_of_turned(V x, int turns) {
  Int<V> q;
  const V r = reduce_by_half_pi(x, q);
  q = q + Int<V>::splat(turns);
  const auto odd = (q & Int<V>::splat(1)) != Int<V>::zero();
  const V y = select(odd, cos_reduced(r), sin_reduced(r));
  return bitcast_f32(bitcast_i32(y) ^ shift_left<30>(q & Int<V>::splat(2)));
}

template <FloatVector V>
CUVIL_INLINE V sin(V x) {
  return select(x == V::zero(), x, sin_of_turned(x, 0));
}
template <FloatVector V>
CUVIL_INLINE V cos(V x) {
  return sin_of_turned(x, 1);
}
template <FloatVector V>
CUVIL_INLINE V tan(V x) {
  Int<V> q;
  const V r = reduce_by_half_pi(x, q);
  const auto odd = (q & Int<V>::splat(1)) != Int<V>::zero();
  const V s = sin_reduced(r);
  const V c = cos_reduced(r);
  return select(x == V::zero(), x, select(odd, -c, s) / select(odd, s, c));
}

// log2(a) = high + low for a positive and finite, with about 30 bits: as 2/ln(2) atanh(s), s = (m - 1) / (m + 1).
template <FloatVector V>
CUVIL_INLINE V log2_in_two(V a, V& low) {
  const V one = V::splat(1.0f);
  const V c = V::splat(0x1.715476p+1f);
  V e;
  const V m = split_exponent(a, e);
  const V divisor = m + one;
  const V divisor_low = m - (divisor - one);
  const V s = (m - one) / divisor;
  const V rest = fma(-s, divisor_low, fma(-s, divisor, m - one)) / divisor;
  // The cubic term is a hundredth of the sum, so its rounding errors still count; those of its factor do not.
  const V square = s * s;
  const V cube = square * s;
  const V cube_low = fma(square, s, -cube) + fma(s, s, -square) * s;
  const V p = polynomial(square, 0x1.555554p-2f, 0x1.999c26p-3f, 0x1.23d3dep-3f, 0x1.f13c2ap-4f);
  const V tail = cube * p;
  const V tail_low = fma(cube, p, -tail) + fma(cube_low, p, fma(square, rest, rest));
  const V atanh_s = s + tail;
  const V atanh_low = (tail - (atanh_s - s)) + tail_low;
  const V product = atanh_s * c;
  const V product_low = fma(atanh_s, c, -product) + fma(atanh_s, V::splat(0x1.4ae0c0p-25f), atanh_low * c);
  const V sum = e + product;
  const V sum_low = (product - (sum - e)) + product_low;
  const V high = sum + sum_low;
  low = sum_low - (high - sum);
  return high;
}

// |x| raised to y: no special case but zero, infinity and overflow.
template <FloatVector V>
CUVIL_INLINE V pow_of_positive(V a, V y) {
  V low;
  V high = log2_in_two(a, low);
  high = select(a == V::zero(), V::splat(-kInfinity), select(a == V::splat(kInfinity), a, high));
  V z = y * high;
  V z_low = fma(y, high, -z) + y * low;
  const auto ordinary = abs(z) <= V::splat(200.0f);
  z_low = select(ordinary, z_low, V::zero());
  z = simd::clamp(z, V::splat(-200.0f), V::splat(200.0f));
  const V n = round_even(z);
  const V r = ((z - n) + z_low) * V::splat(0x1.62e430p-1f);
  return times_power_of_two(exp_reduced(r), n);
}

template <FloatVector V>
CUVIL_INLINE V pow(V x, V y) {
  const V one = V::splat(1.0f);
  const V nan = V::splat(__builtin_nanf(""));
  const V a = abs(x);
  const V half = y * V::splat(0.5f);
  const auto integral = y == trunc(y);
  const auto odd = integral & (half != trunc(half)) & (abs(y) < V::splat(kInfinity));
  const auto negative = bitcast_i32(x) < Int<V>::zero();
  V result = pow_of_positive(a, y);
  result = select(negative & odd, -result, result);
  result = select((x < V::zero()) & ~integral & (a < V::splat(kInfinity)), nan, result);
  result = select((a == one) & (abs(y) == V::splat(kInfinity)), one, result);
  result = select((x != x) | (y != y), nan, result);
  return select((y == V::zero()) | (x == one), one, result);
}

}  // namespace cuvil::math::detail

#endif  // CUVIL_SIMD_MATH_TRIG_POW_H
