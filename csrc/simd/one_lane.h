// One f32 lane in plain C++: what the `scalar` instruction set is, and what plain floats use for the functions of
// math.h on every instruction set. The contract is in simd.h.
#ifndef CUVIL_SIMD_ONE_LANE_H
#define CUVIL_SIMD_ONE_LANE_H

namespace cuvil::simd::one_lane {

struct Mask {
  static constexpr int kLanes = 1;
  bool v;

  static CUVIL_INLINE Mask first(int n) { return {n > 0}; }
  static CUVIL_INLINE Mask splat(bool b) { return {b}; }
  static CUVIL_INLINE Mask load(const uint8_t* p) { return {*p != 0}; }
  static CUVIL_INLINE Mask load_partial(const uint8_t* p, int n) { return {n > 0 && *p != 0}; }
  CUVIL_INLINE void store(uint8_t* p) const { *p = v ? 1 : 0; }
  CUVIL_INLINE void store_partial(uint8_t* p, int n) const {
    if (n > 0) store(p);
  }
};

CUVIL_INLINE Mask operator&(Mask a, Mask b) { return {a.v && b.v}; }
CUVIL_INLINE Mask operator|(Mask a, Mask b) { return {a.v || b.v}; }
CUVIL_INLINE Mask operator^(Mask a, Mask b) { return {a.v != b.v}; }
CUVIL_INLINE Mask operator~(Mask a) { return {!a.v}; }
CUVIL_INLINE bool any(Mask a) { return a.v; }
CUVIL_INLINE bool all(Mask a) { return a.v; }

struct I32 {
  static constexpr int kLanes = 1;
  int32_t v;

  static CUVIL_INLINE I32 zero() { return {0}; }
  static CUVIL_INLINE I32 splat(int32_t x) { return {x}; }
  static CUVIL_INLINE I32 load(const int32_t* p) { return {*p}; }
  static CUVIL_INLINE I32 load_partial(const int32_t* p, int n) { return {n > 0 ? *p : 0}; }
  CUVIL_INLINE void store(int32_t* p) const { *p = v; }
  CUVIL_INLINE void store_partial(int32_t* p, int n) const {
    if (n > 0) *p = v;
  }
};

// Arithmetic wraps, as vector instructions do.
CUVIL_INLINE uint32_t bits(I32 a) { return static_cast<uint32_t>(a.v); }
CUVIL_INLINE I32 from_bits(uint32_t x) { return {static_cast<int32_t>(x)}; }
CUVIL_INLINE I32 operator+(I32 a, I32 b) { return from_bits(bits(a) + bits(b)); }
CUVIL_INLINE I32 operator-(I32 a, I32 b) { return from_bits(bits(a) - bits(b)); }
CUVIL_INLINE I32 operator*(I32 a, I32 b) { return from_bits(bits(a) * bits(b)); }
CUVIL_INLINE I32 operator&(I32 a, I32 b) { return {a.v & b.v}; }
CUVIL_INLINE I32 operator|(I32 a, I32 b) { return {a.v | b.v}; }
CUVIL_INLINE I32 operator^(I32 a, I32 b) { return {a.v ^ b.v}; }
CUVIL_INLINE I32 operator~(I32 a) { return {~a.v}; }
template <int k>
CUVIL_INLINE I32 shift_left(I32 a) {
  return from_bits(bits(a) << k);
}
template <int k>
CUVIL_INLINE I32 shift_right(I32 a) {
  return {a.v >> k};
}
CUVIL_INLINE Mask operator==(I32 a, I32 b) { return {a.v == b.v}; }
CUVIL_INLINE Mask operator!=(I32 a, I32 b) { return {a.v != b.v}; }
CUVIL_INLINE Mask operator<(I32 a, I32 b) { return {a.v < b.v}; }
CUVIL_INLINE Mask operator>(I32 a, I32 b) { return {a.v > b.v}; }
CUVIL_INLINE I32 min(I32 a, I32 b) { return a.v < b.v ? a : b; }
CUVIL_INLINE I32 max(I32 a, I32 b) { return a.v > b.v ? a : b; }
CUVIL_INLINE I32 select(Mask m, I32 a, I32 b) { return m.v ? a : b; }

struct F32 {
  static constexpr int kLanes = 1;
  float v;

  static CUVIL_INLINE F32 zero() { return {0.0f}; }
  static CUVIL_INLINE F32 splat(float x) { return {x}; }
  static CUVIL_INLINE F32 load(const float* p) { return {*p}; }
  static CUVIL_INLINE F32 load_partial(const float* p, int n) { return {n > 0 ? *p : 0.0f}; }
  static CUVIL_INLINE F32 load_strided(const float* p, ptrdiff_t) { return {*p}; }
  static CUVIL_INLINE F32 load_strided_partial(const float* p, ptrdiff_t, int n) { return load_partial(p, n); }
  CUVIL_INLINE void store(float* p) const { *p = v; }
  CUVIL_INLINE void store_partial(float* p, int n) const {
    if (n > 0) *p = v;
  }
  CUVIL_INLINE void store_strided(float* p, ptrdiff_t) const { *p = v; }
  CUVIL_INLINE void store_strided_partial(float* p, ptrdiff_t, int n) const { store_partial(p, n); }
};

CUVIL_INLINE F32 operator+(F32 a, F32 b) { return {a.v + b.v}; }
CUVIL_INLINE F32 operator-(F32 a, F32 b) { return {a.v - b.v}; }
CUVIL_INLINE F32 operator*(F32 a, F32 b) { return {a.v * b.v}; }
CUVIL_INLINE F32 operator/(F32 a, F32 b) { return {a.v / b.v}; }
CUVIL_INLINE F32 operator-(F32 a) { return {-a.v}; }
CUVIL_INLINE F32 fma(F32 a, F32 b, F32 c) {
#if defined(__FMA__) || defined(__aarch64__)
  return {__builtin_fmaf(a.v, b.v, c.v)};
#else
  // Without the instruction fmaf would be a call into libm. The product of two floats is exact in double.
  return {static_cast<float>(static_cast<double>(a.v) * b.v + c.v)};
#endif
}
template <int k>
CUVIL_INLINE F32 fma_lane(F32 acc, F32 b, F32 a) {
  return fma(b, a, acc);
}
CUVIL_INLINE Mask operator==(F32 a, F32 b) { return {a.v == b.v}; }
CUVIL_INLINE Mask operator!=(F32 a, F32 b) { return {a.v != b.v}; }
CUVIL_INLINE Mask operator<(F32 a, F32 b) { return {a.v < b.v}; }
CUVIL_INLINE Mask operator<=(F32 a, F32 b) { return {a.v <= b.v}; }
CUVIL_INLINE Mask operator>(F32 a, F32 b) { return {a.v > b.v}; }
CUVIL_INLINE Mask operator>=(F32 a, F32 b) { return {a.v >= b.v}; }
CUVIL_INLINE F32 select(Mask m, F32 a, F32 b) { return m.v ? a : b; }
CUVIL_INLINE F32 min_or_second(F32 a, F32 b) { return a.v < b.v ? a : b; }
CUVIL_INLINE F32 max_or_second(F32 a, F32 b) { return a.v > b.v ? a : b; }
CUVIL_INLINE F32 min(F32 a, F32 b) { return a.v != a.v ? a : min_or_second(a, b); }
CUVIL_INLINE F32 max(F32 a, F32 b) { return a.v != a.v ? a : max_or_second(a, b); }
CUVIL_INLINE F32 abs(F32 a) { return {__builtin_fabsf(a.v)}; }
CUVIL_INLINE F32 sqrt(F32 a) { return {__builtin_sqrtf(a.v)}; }
CUVIL_INLINE F32 floor(F32 a) { return {__builtin_floorf(a.v)}; }
CUVIL_INLINE F32 ceil(F32 a) { return {__builtin_ceilf(a.v)}; }
CUVIL_INLINE F32 trunc(F32 a) { return {__builtin_truncf(a.v)}; }
CUVIL_INLINE F32 round_even(F32 a) { return {__builtin_rintf(a.v)}; }

CUVIL_INLINE I32 bitcast_i32(F32 a) { return {__builtin_bit_cast(int32_t, a.v)}; }
CUVIL_INLINE F32 bitcast_f32(I32 a) { return {__builtin_bit_cast(float, a.v)}; }
CUVIL_INLINE F32 to_f32(I32 a) { return {static_cast<float>(a.v)}; }
// The range check gives a defined conversion for every input; vector instructions do not trap either.
CUVIL_INLINE I32 to_i32_trunc(F32 a) {
  return {__builtin_fabsf(a.v) < 0x1p31f ? static_cast<int32_t>(a.v) : INT32_MIN};
}
CUVIL_INLINE I32 to_i32_nearest(F32 a) { return to_i32_trunc(round_even(a)); }

CUVIL_INLINE void transpose(F32 (&)[1]) {}

CUVIL_INLINE float reduce_add(F32 a) { return a.v; }
CUVIL_INLINE float reduce_min(F32 a) { return a.v; }
CUVIL_INLINE float reduce_max(F32 a) { return a.v; }

}  // namespace cuvil::simd::one_lane

#endif  // CUVIL_SIMD_ONE_LANE_H
