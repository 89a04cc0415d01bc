// AVX2 with FMA: 8 lanes, masks are vectors of all-ones or zero lanes. The contract is in simd.h.
#ifndef CUVIL_SIMD_AVX2_H
#define CUVIL_SIMD_AVX2_H

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // gcc 12 warns of its own header
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#else
#include <immintrin.h>
#endif

#if !defined(__AVX2__) || !defined(__FMA__)
#error "CUVIL_SIMD=avx2 needs a target CPU with AVX2 and FMA"
#endif

namespace cuvil::simd {
inline namespace avx2 {

inline constexpr bool kHasLaneFma = false;
inline constexpr int kVectorRegisters = 16;

// A window of eight ints into this gives the lane mask of the first n lanes.
alignas(32) inline constexpr int32_t kFirstLanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

struct Mask {
  static constexpr int kLanes = 8;
  __m256 v;

  CUVIL_INLINE __m256i bits() const { return _mm256_castps_si256(v); }
  static CUVIL_INLINE Mask first(int n) {
    return {_mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(kFirstLanes + 8 - n)))};
  }
  static CUVIL_INLINE Mask splat(bool b) { return {_mm256_castsi256_ps(_mm256_set1_epi32(b ? -1 : 0))}; }
  static CUVIL_INLINE Mask load(const uint8_t* p) {
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
    const __m256i wide = _mm256_cvtepu8_epi32(bytes);
    return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(wide, _mm256_setzero_si256()))};
  }
  static CUVIL_INLINE Mask load_partial(const uint8_t* p, int n) {
    uint8_t bytes[kLanes] = {};
    for (int i = 0; i < n; ++i) bytes[i] = p[i];
    return load(bytes);
  }
  CUVIL_INLINE void store(uint8_t* p) const {
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(bits()), _mm256_extracti128_si256(bits(), 1));
    const __m128i bytes = _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), bytes);
  }
  CUVIL_INLINE void store_partial(uint8_t* p, int n) const {
    uint8_t bytes[kLanes];
    store(bytes);
    for (int i = 0; i < n; ++i) p[i] = bytes[i];
  }
};

CUVIL_INLINE Mask operator&(Mask a, Mask b) { return {_mm256_and_ps(a.v, b.v)}; }
CUVIL_INLINE Mask operator|(Mask a, Mask b) { return {_mm256_or_ps(a.v, b.v)}; }
CUVIL_INLINE Mask operator^(Mask a, Mask b) { return {_mm256_xor_ps(a.v, b.v)}; }
CUVIL_INLINE Mask operator~(Mask a) { return a ^ Mask::splat(true); }
CUVIL_INLINE bool any(Mask a) { return _mm256_movemask_ps(a.v) != 0; }
CUVIL_INLINE bool all(Mask a) { return _mm256_movemask_ps(a.v) == 0xff; }

struct I32 {
  static constexpr int kLanes = 8;
  __m256i v;

  static CUVIL_INLINE I32 zero() { return {_mm256_setzero_si256()}; }
  static CUVIL_INLINE I32 splat(int32_t x) { return {_mm256_set1_epi32(x)}; }
  static CUVIL_INLINE I32 load(const int32_t* p) { return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))}; }
  static CUVIL_INLINE I32 load_partial(const int32_t* p, int n) {
    return {_mm256_maskload_epi32(p, Mask::first(n).bits())};
  }
  CUVIL_INLINE void store(int32_t* p) const { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  CUVIL_INLINE void store_partial(int32_t* p, int n) const { _mm256_maskstore_epi32(p, Mask::first(n).bits(), v); }
};

CUVIL_INLINE I32 operator+(I32 a, I32 b) { return {_mm256_add_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 operator-(I32 a, I32 b) { return {_mm256_sub_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 operator*(I32 a, I32 b) { return {_mm256_mullo_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 operator&(I32 a, I32 b) { return {_mm256_and_si256(a.v, b.v)}; }
CUVIL_INLINE I32 operator|(I32 a, I32 b) { return {_mm256_or_si256(a.v, b.v)}; }
CUVIL_INLINE I32 operator^(I32 a, I32 b) { return {_mm256_xor_si256(a.v, b.v)}; }
CUVIL_INLINE I32 operator~(I32 a) { return a ^ I32::splat(-1); }
template <int k>
CUVIL_INLINE I32 shift_left(I32 a) {
  return {_mm256_slli_epi32(a.v, k)};
}
template <int k>
CUVIL_INLINE I32 shift_right(I32 a) {
  return {_mm256_srai_epi32(a.v, k)};
}
CUVIL_INLINE Mask operator==(I32 a, I32 b) { return {_mm256_castsi256_ps(_mm256_cmpeq_epi32(a.v, b.v))}; }
CUVIL_INLINE Mask operator!=(I32 a, I32 b) { return ~(a == b); }
CUVIL_INLINE Mask operator>(I32 a, I32 b) { return {_mm256_castsi256_ps(_mm256_cmpgt_epi32(a.v, b.v))}; }
CUVIL_INLINE Mask operator<(I32 a, I32 b) { return b > a; }
CUVIL_INLINE I32 min(I32 a, I32 b) { return {_mm256_min_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 max(I32 a, I32 b) { return {_mm256_max_epi32(a.v, b.v)}; }
CUVIL_INLINE I32 select(Mask m, I32 a, I32 b) { return {_mm256_blendv_epi8(b.v, a.v, m.bits())}; }

struct F32 {
  static constexpr int kLanes = 8;
  __m256 v;

  static CUVIL_INLINE F32 zero() { return {_mm256_setzero_ps()}; }
  static CUVIL_INLINE F32 splat(float x) { return {_mm256_set1_ps(x)}; }
  static CUVIL_INLINE F32 load(const float* p) { return {_mm256_loadu_ps(p)}; }
  static CUVIL_INLINE F32 load_partial(const float* p, int n) { return {_mm256_maskload_ps(p, Mask::first(n).bits())}; }
  static CUVIL_INLINE F32 load_strided(const float* p, ptrdiff_t s) {
    return {_mm256_setr_ps(p[0], p[s], p[2 * s], p[3 * s], p[4 * s], p[5 * s], p[6 * s], p[7 * s])};
  }
  static CUVIL_INLINE F32 load_strided_partial(const float* p, ptrdiff_t s, int n) {
    float lane[kLanes] = {};
    for (int i = 0; i < n; ++i) lane[i] = p[i * s];
    return load(lane);
  }
  CUVIL_INLINE void store(float* p) const { _mm256_storeu_ps(p, v); }
  CUVIL_INLINE void store_partial(float* p, int n) const { _mm256_maskstore_ps(p, Mask::first(n).bits(), v); }
  CUVIL_INLINE void store_strided(float* p, ptrdiff_t s) const { store_strided_partial(p, s, kLanes); }
  CUVIL_INLINE void store_strided_partial(float* p, ptrdiff_t s, int n) const {
    float lane[kLanes];
    store(lane);
    for (int i = 0; i < n; ++i) p[i * s] = lane[i];
  }
};

CUVIL_INLINE F32 operator+(F32 a, F32 b) { return {_mm256_add_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator-(F32 a, F32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator*(F32 a, F32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator/(F32 a, F32 b) { return {_mm256_div_ps(a.v, b.v)}; }
CUVIL_INLINE F32 operator-(F32 a) { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f))}; }
CUVIL_INLINE F32 fma(F32 a, F32 b, F32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
template <int k>
CUVIL_INLINE F32 fma_lane(F32 acc, F32 b, F32 a) {
  const __m256 half = _mm256_permute2f128_ps(a.v, a.v, (k / 4) * 0x11);
  return fma(F32{_mm256_permute_ps(half, (k % 4) * 0x55)}, b, acc);
}
CUVIL_INLINE Mask operator==(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
CUVIL_INLINE Mask operator!=(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_NEQ_UQ)}; }
CUVIL_INLINE Mask operator<(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
CUVIL_INLINE Mask operator<=(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ)}; }
CUVIL_INLINE Mask operator>(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GT_OQ)}; }
CUVIL_INLINE Mask operator>=(F32 a, F32 b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_GE_OQ)}; }
CUVIL_INLINE F32 select(Mask m, F32 a, F32 b) { return {_mm256_blendv_ps(b.v, a.v, m.v)}; }
// The bare instructions: the second operand when either is NaN.
CUVIL_INLINE F32 min_or_second(F32 a, F32 b) { return {_mm256_min_ps(a.v, b.v)}; }
CUVIL_INLINE F32 max_or_second(F32 a, F32 b) { return {_mm256_max_ps(a.v, b.v)}; }
CUVIL_INLINE F32 min(F32 a, F32 b) { return select(a != a, a, min_or_second(a, b)); }
CUVIL_INLINE F32 max(F32 a, F32 b) { return select(a != a, a, max_or_second(a, b)); }
CUVIL_INLINE F32 abs(F32 a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
CUVIL_INLINE F32 sqrt(F32 a) { return {_mm256_sqrt_ps(a.v)}; }
CUVIL_INLINE F32 floor(F32 a) { return {_mm256_floor_ps(a.v)}; }
CUVIL_INLINE F32 ceil(F32 a) { return {_mm256_ceil_ps(a.v)}; }
CUVIL_INLINE F32 trunc(F32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }
CUVIL_INLINE F32 round_even(F32 a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }

CUVIL_INLINE I32 bitcast_i32(F32 a) { return {_mm256_castps_si256(a.v)}; }
CUVIL_INLINE F32 bitcast_f32(I32 a) { return {_mm256_castsi256_ps(a.v)}; }
CUVIL_INLINE F32 to_f32(I32 a) { return {_mm256_cvtepi32_ps(a.v)}; }
CUVIL_INLINE I32 to_i32_trunc(F32 a) { return {_mm256_cvttps_epi32(a.v)}; }
CUVIL_INLINE I32 to_i32_nearest(F32 a) { return {_mm256_cvtps_epi32(a.v)}; }

// v[i] lane j becomes v[j] lane i.
CUVIL_INLINE void transpose(F32 (&v)[8]) {
  __m256 quads[8];
  for (int i = 0; i < 8; i += 4) {
    const __m256 a = _mm256_unpacklo_ps(v[i].v, v[i + 1].v);
    const __m256 b = _mm256_unpackhi_ps(v[i].v, v[i + 1].v);
    const __m256 c = _mm256_unpacklo_ps(v[i + 2].v, v[i + 3].v);
    const __m256 d = _mm256_unpackhi_ps(v[i + 2].v, v[i + 3].v);
    quads[i] = _mm256_shuffle_ps(a, c, 0x44);
    quads[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
    quads[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
    quads[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    v[i].v = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    v[i + 4].v = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
  }
}

CUVIL_INLINE float reduce_add(F32 a) {
  __m128 x = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  x = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}
CUVIL_INLINE float reduce_min(F32 a) {
  if (any(a != a)) return __builtin_nanf("");
  __m128 x = _mm_min_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  x = _mm_min_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_min_ss(x, _mm_movehdup_ps(x)));
}
CUVIL_INLINE float reduce_max(F32 a) {
  if (any(a != a)) return __builtin_nanf("");
  __m128 x = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  x = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

}  // namespace avx2
}  // namespace cuvil::simd

#endif  // CUVIL_SIMD_AVX2_H
