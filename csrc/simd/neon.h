// AArch64 NEON: 4 lanes, multiply-add by one lane of a register. The contract is in simd.h.
#ifndef CUVIL_SIMD_NEON_H
#define CUVIL_SIMD_NEON_H

#include <arm_neon.h>

#if !defined(__aarch64__)
#error "CUVIL_SIMD=neon needs a 64-bit Arm target"
#endif

namespace cuvil::simd {
inline namespace neon {

inline constexpr bool kHasLaneFma = true;
inline constexpr int kVectorRegisters = 32;

struct Mask {
  static constexpr int kLanes = 4;
  uint32x4_t v;

  static CUVIL_INLINE Mask first(int n) {
    const int32x4_t index = {0, 1, 2, 3};
    return {vcltq_s32(index, vdupq_n_s32(n))};
  }
  static CUVIL_INLINE Mask splat(bool b) { return {vdupq_n_u32(b ? 0xffffffffu : 0u)}; }
  static CUVIL_INLINE Mask load(const uint8_t* p) { return load_partial(p, kLanes); }
  static CUVIL_INLINE Mask load_partial(const uint8_t* p, int n) {
    uint32_t lane[kLanes] = {};
    for (int i = 0; i < n; ++i) lane[i] = p[i];
    const uint32x4_t wide = vld1q_u32(lane);
    return {vtstq_u32(wide, wide)};
  }
  CUVIL_INLINE void store(uint8_t* p) const { store_partial(p, kLanes); }
  CUVIL_INLINE void store_partial(uint8_t* p, int n) const {
    uint32_t lane[kLanes];
    vst1q_u32(lane, vandq_u32(v, vdupq_n_u32(1)));
    for (int i = 0; i < n; ++i) p[i] = static_cast<uint8_t>(lane[i]);
  }
};

CUVIL_INLINE Mask operator&(Mask a, Mask b) { return {vandq_u32(a.v, b.v)}; }
CUVIL_INLINE Mask operator|(Mask a, Mask b) { return {vorrq_u32(a.v, b.v)}; }
CUVIL_INLINE Mask operator^(Mask a, Mask b) { return {veorq_u32(a.v, b.v)}; }
CUVIL_INLINE Mask operator~(Mask a) { return {vmvnq_u32(a.v)}; }
CUVIL_INLINE bool any(Mask a) { return vmaxvq_u32(a.v) != 0; }
CUVIL_INLINE bool all(Mask a) { return vminvq_u32(a.v) != 0; }

struct I32 {
  static constexpr int kLanes = 4;
  int32x4_t v;

  static CUVIL_INLINE I32 zero() { return {vdupq_n_s32(0)}; }
  static CUVIL_INLINE I32 splat(int32_t x) { return {vdupq_n_s32(x)}; }
  static CUVIL_INLINE I32 load(const int32_t* p) { return {vld1q_s32(p)}; }
  static CUVIL_INLINE I32 load_partial(const int32_t* p, int n) {
    int32x4_t x = vdupq_n_s32(0);
    if (n == kLanes) return {vld1q_s32(p)};
    if (n >= 1) x = vld1q_lane_s32(p, x, 0);
    if (n >= 2) x = vld1q_lane_s32(p + 1, x, 1);
    if (n >= 3) x = vld1q_lane_s32(p + 2, x, 2);
    return {x};
  }
  CUVIL_INLINE void store(int32_t* p) const { vst1q_s32(p, v); }
  CUVIL_INLINE void store_partial(int32_t* p, int n) const {
    if (n == kLanes) return vst1q_s32(p, v);
    if (n >= 1) vst1q_lane_s32(p, v, 0);
    if (n >= 2) vst1q_lane_s32(p + 1, v, 1);
    if (n >= 3) vst1q_lane_s32(p + 2, v, 2);
  }
};

CUVIL_INLINE I32 operator+(I32 a, I32 b) { return {vaddq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 operator-(I32 a, I32 b) { return {vsubq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 operator*(I32 a, I32 b) { return {vmulq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 operator&(I32 a, I32 b) { return {vandq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 operator|(I32 a, I32 b) { return {vorrq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 operator^(I32 a, I32 b) { return {veorq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 operator~(I32 a) { return {vmvnq_s32(a.v)}; }
template <int k>
CUVIL_INLINE I32 shift_left(I32 a) {
  return {vshlq_n_s32(a.v, k)};
}
template <int k>
CUVIL_INLINE I32 shift_right(I32 a) {
  return {vshrq_n_s32(a.v, k)};
}
CUVIL_INLINE Mask operator==(I32 a, I32 b) { return {vceqq_s32(a.v, b.v)}; }
CUVIL_INLINE Mask operator!=(I32 a, I32 b) { return ~(a == b); }
CUVIL_INLINE Mask operator<(I32 a, I32 b) { return {vcltq_s32(a.v, b.v)}; }
CUVIL_INLINE Mask operator>(I32 a, I32 b) { return {vcgtq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 min(I32 a, I32 b) { return {vminq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 max(I32 a, I32 b) { return {vmaxq_s32(a.v, b.v)}; }
CUVIL_INLINE I32 select(Mask m, I32 a, I32 b) { return {vbslq_s32(m.v, a.v, b.v)}; }

struct F32 {
  static constexpr int kLanes = 4;
  float32x4_t v;

  static CUVIL_INLINE F32 zero() { return {vdupq_n_f32(0.0f)}; }
  static CUVIL_INLINE F32 splat(float x) { return {vdupq_n_f32(x)}; }
  static CUVIL_INLINE F32 load(const float* p) { return {vld1q_f32(p)}; }
  static CUVIL_INLINE F32 load_partial(const float* p, int n) {
    float32x4_t x = vdupq_n_f32(0.0f);
    if (n == kLanes) return {vld1q_f32(p)};
    if (n >= 1) x = vld1q_lane_f32(p, x, 0);
    if (n >= 2) x = vld1q_lane_f32(p + 1, x, 1);
    if (n >= 3) x = vld1q_lane_f32(p + 2, x, 2);
    return {x};
  }
  static CUVIL_INLINE F32 load_strided(const float* p, ptrdiff_t s) {
    float32x4_t x = vld1q_dup_f32(p);
    x = vld1q_lane_f32(p + s, x, 1);
    x = vld1q_lane_f32(p + 2 * s, x, 2);
    return {vld1q_lane_f32(p + 3 * s, x, 3)};
  }
  static CUVIL_INLINE F32 load_strided_partial(const float* p, ptrdiff_t s, int n) {
    float32x4_t x = vdupq_n_f32(0.0f);
    if (n >= 1) x = vld1q_lane_f32(p, x, 0);
    if (n >= 2) x = vld1q_lane_f32(p + s, x, 1);
    if (n >= 3) x = vld1q_lane_f32(p + 2 * s, x, 2);
    if (n >= 4) x = vld1q_lane_f32(p + 3 * s, x, 3);
    return {x};
  }
  CUVIL_INLINE void store(float* p) const { vst1q_f32(p, v); }
  CUVIL_INLINE void store_partial(float* p, int n) const {
    if (n == kLanes) return vst1q_f32(p, v);
    if (n >= 1) vst1q_lane_f32(p, v, 0);
    if (n >= 2) vst1q_lane_f32(p + 1, v, 1);
    if (n >= 3) vst1q_lane_f32(p + 2, v, 2);
  }
  CUVIL_INLINE void store_strided(float* p, ptrdiff_t s) const { store_strided_partial(p, s, kLanes); }
  CUVIL_INLINE void store_strided_partial(float* p, ptrdiff_t s, int n) const {
    if (n >= 1) vst1q_lane_f32(p, v, 0);
    if (n >= 2) vst1q_lane_f32(p + s, v, 1);
    if (n >= 3) vst1q_lane_f32(p + 2 * s, v, 2);
    if (n >= 4) vst1q_lane_f32(p + 3 * s, v, 3);
  }
};

CUVIL_INLINE F32 operator+(F32 a, F32 b) { return {vaddq_f32(a.v, b.v)}; }
CUVIL_INLINE F32 operator-(F32 a, F32 b) { return {vsubq_f32(a.v, b.v)}; }
CUVIL_INLINE F32 operator*(F32 a, F32 b) { return {vmulq_f32(a.v, b.v)}; }
CUVIL_INLINE F32 operator/(F32 a, F32 b) { return {vdivq_f32(a.v, b.v)}; }
CUVIL_INLINE F32 operator-(F32 a) { return {vnegq_f32(a.v)}; }
CUVIL_INLINE F32 fma(F32 a, F32 b, F32 c) { return {vfmaq_f32(c.v, a.v, b.v)}; }
template <int k>
CUVIL_INLINE F32 fma_lane(F32 acc, F32 b, F32 a) {
  return {vfmaq_laneq_f32(acc.v, b.v, a.v, k)};
}
CUVIL_INLINE Mask operator==(F32 a, F32 b) { return {vceqq_f32(a.v, b.v)}; }
CUVIL_INLINE Mask operator!=(F32 a, F32 b) { return ~(a == b); }
CUVIL_INLINE Mask operator<(F32 a, F32 b) { return {vcltq_f32(a.v, b.v)}; }
CUVIL_INLINE Mask operator<=(F32 a, F32 b) { return {vcleq_f32(a.v, b.v)}; }
CUVIL_INLINE Mask operator>(F32 a, F32 b) { return {vcgtq_f32(a.v, b.v)}; }
CUVIL_INLINE Mask operator>=(F32 a, F32 b) { return {vcgeq_f32(a.v, b.v)}; }
CUVIL_INLINE F32 select(Mask m, F32 a, F32 b) { return {vbslq_f32(m.v, a.v, b.v)}; }
// The instructions propagate NaN from either operand, so the two flavours are one.
CUVIL_INLINE F32 min(F32 a, F32 b) { return {vminq_f32(a.v, b.v)}; }
CUVIL_INLINE F32 max(F32 a, F32 b) { return {vmaxq_f32(a.v, b.v)}; }
CUVIL_INLINE F32 min_or_second(F32 a, F32 b) { return min(a, b); }
CUVIL_INLINE F32 max_or_second(F32 a, F32 b) { return max(a, b); }
CUVIL_INLINE F32 abs(F32 a) { return {vabsq_f32(a.v)}; }
CUVIL_INLINE F32 sqrt(F32 a) { return {vsqrtq_f32(a.v)}; }
CUVIL_INLINE F32 floor(F32 a) { return {vrndmq_f32(a.v)}; }
CUVIL_INLINE F32 ceil(F32 a) { return {vrndpq_f32(a.v)}; }
CUVIL_INLINE F32 trunc(F32 a) { return {vrndq_f32(a.v)}; }
CUVIL_INLINE F32 round_even(F32 a) { return {vrndnq_f32(a.v)}; }

CUVIL_INLINE I32 bitcast_i32(F32 a) { return {vreinterpretq_s32_f32(a.v)}; }
CUVIL_INLINE F32 bitcast_f32(I32 a) { return {vreinterpretq_f32_s32(a.v)}; }
CUVIL_INLINE F32 to_f32(I32 a) { return {vcvtq_f32_s32(a.v)}; }
CUVIL_INLINE I32 to_i32_trunc(F32 a) { return {vcvtq_s32_f32(a.v)}; }
CUVIL_INLINE I32 to_i32_nearest(F32 a) { return {vcvtnq_s32_f32(a.v)}; }

// v[i] lane j becomes v[j] lane i.
CUVIL_INLINE void transpose(F32 (&v)[4]) {
  const float32x4_t a = vzip1q_f32(v[0].v, v[2].v), b = vzip2q_f32(v[0].v, v[2].v);
  const float32x4_t c = vzip1q_f32(v[1].v, v[3].v), d = vzip2q_f32(v[1].v, v[3].v);
  v[0].v = vzip1q_f32(a, c);
  v[1].v = vzip2q_f32(a, c);
  v[2].v = vzip1q_f32(b, d);
  v[3].v = vzip2q_f32(b, d);
}

CUVIL_INLINE float reduce_add(F32 a) { return vaddvq_f32(a.v); }
CUVIL_INLINE float reduce_min(F32 a) { return vminvq_f32(a.v); }
CUVIL_INLINE float reduce_max(F32 a) { return vmaxvq_f32(a.v); }

}  // namespace neon
}  // namespace cuvil::simd

#endif  // CUVIL_SIMD_NEON_H
