// AVX-512 (F, VL, BW, DQ): 16 lanes, masks in k registers. The contract is in simd.h.
#ifndef CUVIL_SIMD_AVX512_H
#define CUVIL_SIMD_AVX512_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12 warns of its own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

#if !defined(__AVX512F__) || !defined(__AVX512VL__) || !defined(__AVX512BW__) || !defined(__AVX512DQ__)
#error "CUVIL_SIMD=avx512 needs a target CPU with AVX-512 F, VL, BW and DQ"
#endif

namespace cuvil::simd {
inline namespace avx512 {

inline constexpr bool kHasLaneFma = false;
inline constexpr int kVectorRegisters = 32;

struct Mask {
  static constexpr int kLanes = 16;
  __mmask16 v;

  static CUVIL_INLINE Mask first(int n) { return {static_cast<__mmask16>((1u << n) - 1u)}; }
  static CUVIL_INLINE Mask splat(bool b) { return {static_cast<__mmask16>(b ? 0xffff : 0)}; }
  static CUVIL_INLINE Mask load(const uint8_t* p) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm_test_epi8_mask(bytes, bytes)};
  }
  static CUVIL_INLINE Mask load_partial(const uint8_t* p, int n) {
    const __m128i bytes = _mm_maskz_loadu_epi8(first(n).v, p);
    return {_mm_test_epi8_mask(bytes, bytes)};
  }
  CUVIL_INLINE void store(uint8_t* p) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_maskz_set1_epi8(v, 1));
  }
  CUVIL_INLINE void store_partial(uint8_t* p, int n) const {
    _mm_mask_storeu_epi8(p, first(n).v, _mm_maskz_set1_epi8(v, 1));
  }
};

CUVIL_INLINE Mask operator&(Mask a, Mask b) { return {static_cast<__mmask16>(a.v & b.v)}; }
CUVIL_INLINE Mask operator|(Mask a, Mask b) { return {static_cast<__mmask16>(a.v | b.v)}; }
CUVIL_INLINE Mask operator^(Mask a, Mask b) { return {static_cast<__mmask16>(a.v ^ b.v)}; }
CUVIL_INLINE Mask operator~(Mask a) { return {static_cast<__mmask16>(~a.v)}; }
CUVIL_INLINE bool any(Mask a) { return a.v != 0; }
CUVIL_INLINE bool all(Mask a) { return a.v == 0xffff; }

struct I32 {
  static constexpr int kLanes = 16;
  __m512i v;

  static CUVIL_INLINE I32 zero() { return {_mm512_setzero_si512()}; }
  static CUVIL_INLINE I32 splat(int32_t x) { return {_mm512_set1_epi32(x)}; }
  static CUVIL_INLINE I32 load(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
  static CUVIL_INLINE I32 load_partial(const int32_t* p, int n) {
    return {_mm512_maskz_loadu_epi32(Mask::first(n).v, p)};
  }
  CUVIL_INLINE void store(int32_t* p) const { _mm512_storeu_si512(p, v); }
  CUVIL_INLINE void store_partial(int32_t* p, int n) const { _mm512_mask_storeu_epi32(p, Mask::first(n).v, v); }
};

CUVIL_INLINE I32 operator+(I32 a, I32 b) { return {_mm512_add_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 operator-(I32 a, I32 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 operator*(I32 a, I32 b) { return {_mm512_mullo_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 operator&(I32 a, I32 b) { return {_mm512_and_si512(a.v, b.v)}; }
CUVIL_INLINE I32 operator|(I32 a, I32 b) { return {_mm512_or_si512(a.v, b.v)}; }
CUVIL_INLINE I32 operator^(I32 a, I32 b) { return {_mm512_xor_si512(a.v, b.v)}; }
CUVIL_INLINE I32 operator~(I32 a) { return {_mm512_xor_si512(a.v, _mm512_set1_epi32(-1))}; }
template <int k>
CUVIL_INLINE I32 shift_left(I32 a) {
  return {_mm512_slli_epi32(a.v, k)};
}
template <int k>
CUVIL_INLINE I32 shift_right(I32 a) {
  return {_mm512_srai_epi32(a.v, k)};
}
CUVIL_INLINE Mask operator==(I32 a, I32 b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
CUVIL_INLINE Mask operator!=(I32 a, I32 b) { return {_mm512_cmpneq_epi32_mask(a.v, b.v)}; }
CUVIL_INLINE Mask operator<(I32 a, I32 b) { return {_mm512_cmplt_epi32_mask(a.v, b.v)}; }
CUVIL_INLINE Mask operator>(I32 a, I32 b) { return {_mm512_cmpgt_epi32_mask(a.v, b.v)}; }
CUVIL_INLINE I32 min(I32 a, I32 b) { return {_mm512_min_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 max(I32 a, I32 b) { return {_mm512_max_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 select(Mask m, I32 a, I32 b) { return {_mm512_mask_blend_epi32(m.v, b.v, a.v)}; }

struct F32 {
  static constexpr int kLanes = 16;
  __m512 v;

  static CUVIL_INLINE F32 zero() { return {_mm512_setzero_ps()}; }
  static CUVIL_INLINE F32 splat(float x) { return {_mm512_set1_ps(x)}; }
  static CUVIL_INLINE F32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static CUVIL_INLINE F32 load_partial(const float* p, int n) { return {_mm512_maskz_loadu_ps(Mask::first(n).v, p)}; }
  static CUVIL_INLINE F32 load_strided(const float* p, ptrdiff_t s) {
    return {_mm512_setr_ps(p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s], p[8 * s], p[9 * s],
                           p[10 * s], p[11 * s], p[12 * s], p[13 * s], p[14 * s], p[15 * s])};
  }
  static CUVIL_INLINE F32 load_strided_partial(const float* p, ptrdiff_t s, int n) {
    float lane[kLanes] = {};
    for (int i = 0; i < n; ++i) lane[i] = p[i * s];
    return load(lane);
  }
  CUVIL_INLINE void store(float* p) const { _mm512_storeu_ps(p, v); }
  CUVIL_INLINE void store_partial(float* p, int n) const { _mm512_mask_storeu_ps(p, Mask::first(n).v, v); }
  CUVIL_INLINE void store_strided(float* p, ptrdiff_t s) const { store_strided_partial(p, s, kLanes); }
  CUVIL_INLINE void store_strided_partial(float* p, ptrdiff_t s, int n) const {
    float lane[kLanes];
    store(lane);
    for (int i = 0; i < n; ++i) p[i * s] = lane[i];
  }
};

CUVIL_INLINE F32 operator+(F32 a, F32 b) { return {_mm512_add_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator-(F32 a, F32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator*(F32 a, F32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator/(F32 a, F32 b) { return {_mm512_div_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator-(F32 a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
CUVIL_INLINE F32 fma(F32 a, F32 b, F32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
template <int k>
CUVIL_INLINE F32 fma_lane(F32 acc, F32 b, F32 a) {
  const __m512 quad = _mm512_shuffle_f32x4(a.v, a.v, (k / 4) * 0x55);
  return fma(F32{_mm512_permute_ps(quad, (k % 4) * 0x55)}, b, acc);
}
CUVIL_INLINE Mask operator==(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
CUVIL_INLINE Mask operator!=(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_NEQ_UQ)}; }
CUVIL_INLINE Mask operator<(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
CUVIL_INLINE Mask operator<=(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
CUVIL_INLINE Mask operator>(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)}; }
CUVIL_INLINE Mask operator>=(F32 a, F32 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ)}; }
CUVIL_INLINE F32 select(Mask m, F32 a, F32 b) { return {_mm512_mask_blend_ps(m.v, b.v, a.v)}; }
// The bare instructions: the second operand when either is NaN.
CUVIL_INLINE F32 min_or_second(F32 a, F32 b) { return {_mm512_min_ps(a.v, b.v)}; }
CUVIL_INLINE F32 max_or_second(F32 a, F32 b) { return {_mm512_max_ps(a.v, b.v)}; }
CUVIL_INLINE F32 min(F32 a, F32 b) { return select(a != a, a, min_or_second(a, b)); }
CUVIL_INLINE F32 max(F32 a, F32 b) { return select(a != a, a, max_or_second(a, b)); }
CUVIL_INLINE F32 abs(F32 a) { return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v)}; }
CUVIL_INLINE F32 sqrt(F32 a) { return {_mm512_sqrt_ps(a.v)}; }
CUVIL_INLINE F32 floor(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
CUVIL_INLINE F32 ceil(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
CUVIL_INLINE F32 trunc(F32 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }
CUVIL_INLINE F32 round_even(F32 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

CUVIL_INLINE I32 bitcast_i32(F32 a) { return {_mm512_castps_si512(a.v)}; }
CUVIL_INLINE F32 bitcast_f32(I32 a) { return {_mm512_castsi512_ps(a.v)}; }
CUVIL_INLINE F32 to_f32(I32 a) { return {_mm512_cvtepi32_ps(a.v)}; }
CUVIL_INLINE I32 to_i32_trunc(F32 a) { return {_mm512_cvttps_epi32(a.v)}; }
CUVIL_INLINE I32 to_i32_nearest(F32 a) { return {_mm512_cvtps_epi32(a.v)}; }

// v[i] lane j becomes v[j] lane i.
CUVIL_INLINE void transpose(F32 (&v)[16]) {
  __m512 pairs[16], quads[16];
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_ps(v[i].v, v[i + 1].v);
    pairs[i + 1] = _mm512_unpackhi_ps(v[i].v, v[i + 1].v);
  }
  for (int i = 0; i < 16; i += 4) {
    quads[i] = _mm512_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
    quads[i + 1] = _mm512_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
    quads[i + 2] = _mm512_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
    quads[i + 3] = _mm512_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
  }
  // Now a 4x4 transposition of 128-bit parts between quads i, i + 4, i + 8 and i + 12.
  for (int i = 0; i < 4; ++i) {
    const __m512 a = _mm512_shuffle_f32x4(quads[i], quads[i + 4], 0x88);
    const __m512 b = _mm512_shuffle_f32x4(quads[i], quads[i + 4], 0xdd);
    const __m512 c = _mm512_shuffle_f32x4(quads[i + 8], quads[i + 12], 0x88);
    const __m512 d = _mm512_shuffle_f32x4(quads[i + 8], quads[i + 12], 0xdd);
    v[i].v = _mm512_shuffle_f32x4(a, c, 0x88);
    v[i + 4].v = _mm512_shuffle_f32x4(b, d, 0x88);
    v[i + 8].v = _mm512_shuffle_f32x4(a, c, 0xdd);
    v[i + 12].v = _mm512_shuffle_f32x4(b, d, 0xdd);
  }
}

// a * 2^n for an integral n, rounded once.
CUVIL_INLINE F32 times_power_of_two(F32 a, F32 n) { return {_mm512_scalef_ps(a.v, n.v)}; }

CUVIL_INLINE float reduce_add(F32 a) { return _mm512_reduce_add_ps(a.v); }
CUVIL_INLINE float reduce_min(F32 a) { return any(a != a) ? __builtin_nanf("") : _mm512_reduce_min_ps(a.v); }
CUVIL_INLINE float reduce_max(F32 a) { return any(a != a) ? __builtin_nanf("") : _mm512_reduce_max_ps(a.v); }

}  // namespace avx512
}  // namespace cuvil::simd

#endif  // CUVIL_SIMD_AVX512_H
