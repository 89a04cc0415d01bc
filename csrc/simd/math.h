// cuvil::math: one set of names for vectors and for plain numbers, so that one generic lambda is both the vector body
// of a loop and its scalar form:
//   [](auto x) { return math::mul(x, math::sigmoid(x)); }   // F32, float, double
//
// Types: F32 (and Mask), float, double, and integers of every width where a meaning is given. float goes through the
// same algorithms as F32 and gives the same bits; double calls the C library's libm.
//
//   constant<T>(x) like(t, x)   x as a T / as the type of t
//   add sub mul neg             integers wrap
//   div                         integers truncate towards zero; x / 0 is 0, the smallest number / -1 is itself
//   mod                         the sign of the divisor (Python, numpy.mod; integers, float, double, F32); x mod 0 is 0
//                               for integers
//   remainder                   the sign of the dividend (C's fmod and %)
//   abs sign min max clamp relu fma select(condition, a, b)
//   eq ne lt le gt ge           a Mask for vectors, bool for numbers
//   logical_and logical_or logical_xor logical_not, is_nan is_inf
//   bit_and bit_or bit_xor bit_not shift_left shift_right   integers only
//   reciprocal sqrt rsqrt floor ceil trunc round_even       rounding is the identity for integers
//   exp expm1 log log1p pow sigmoid softplus tanh erf sin cos tan asin acos atan sinh cosh asinh acosh atanh
#ifndef CUVIL_SIMD_MATH_H
#define CUVIL_SIMD_MATH_H

#include "simd/math_trig_pow.h"

namespace cuvil::math {

using simd::F32;
using simd::FloatVector;
using simd::Mask;

template <class T>
inline constexpr bool is_integer = false;
template <>
inline constexpr bool is_integer<int8_t> = true;
template <>
inline constexpr bool is_integer<uint8_t> = true;
template <>
inline constexpr bool is_integer<int16_t> = true;
template <>
inline constexpr bool is_integer<uint16_t> = true;
template <>
inline constexpr bool is_integer<int32_t> = true;
template <>
inline constexpr bool is_integer<uint32_t> = true;
template <>
inline constexpr bool is_integer<int64_t> = true;
template <>
inline constexpr bool is_integer<uint64_t> = true;

template <class T>
inline constexpr bool is_real = false;
template <>
inline constexpr bool is_real<float> = true;
template <>
inline constexpr bool is_real<double> = true;

template <class T>
concept Integer = is_integer<T>;
template <class T>
concept Real = is_real<T>;
template <class T>
concept Number = Integer<T> || Real<T> || __is_same(T, bool);

// --- constants ---

template <FloatVector T>
CUVIL_INLINE T constant(double x) {
  return T::splat(static_cast<float>(x));
}
template <Number T>
CUVIL_INLINE T constant(double x) {
  return static_cast<T>(x);
}
template <class T>
CUVIL_INLINE T like(T, double x) {
  return constant<T>(x);
}

// --- arithmetic ---

template <FloatVector T>
CUVIL_INLINE T add(T a, T b) {
  return a + b;
}
template <FloatVector T>
CUVIL_INLINE T sub(T a, T b) {
  return a - b;
}
template <FloatVector T>
CUVIL_INLINE T mul(T a, T b) {
  return a * b;
}
template <FloatVector T>
CUVIL_INLINE T div(T a, T b) {
  return a / b;
}
template <FloatVector T>
CUVIL_INLINE T neg(T a) {
  return -a;
}
template <Real T>
CUVIL_INLINE T add(T a, T b) {
  return a + b;
}
template <Real T>
CUVIL_INLINE T sub(T a, T b) {
  return a - b;
}
template <Real T>
CUVIL_INLINE T mul(T a, T b) {
  return a * b;
}
template <Real T>
CUVIL_INLINE T div(T a, T b) {
  return a / b;
}
template <Real T>
CUVIL_INLINE T neg(T a) {
  return -a;
}
// Integers wrap: the arithmetic is done on 64-bit patterns, whose low bits are right for every width and sign.
template <Integer T>
CUVIL_INLINE T add(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <Integer T>
CUVIL_INLINE T sub(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <Integer T>
CUVIL_INLINE T mul(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <Integer T>
CUVIL_INLINE T neg(T a) {
  return static_cast<T>(0 - static_cast<uint64_t>(a));
}
template <Integer T>
inline constexpr bool is_signed = static_cast<T>(-1) < static_cast<T>(0);

template <Integer T>
CUVIL_INLINE T div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (is_signed<T>) {
    if (b == static_cast<T>(-1)) return neg(a);
  }
  return static_cast<T>(a / b);
}
template <Integer T>
CUVIL_INLINE T remainder(T a, T b) {
  if (b == 0) return 0;
  if constexpr (is_signed<T>) {
    if (b == static_cast<T>(-1)) return 0;
  }
  return static_cast<T>(a % b);
}
template <Integer T>
CUVIL_INLINE T mod(T a, T b) {
  const T r = remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}
CUVIL_INLINE float remainder(float a, float b) { return __builtin_fmodf(a, b); }
CUVIL_INLINE double remainder(double a, double b) { return __builtin_fmod(a, b); }
template <Real T>
CUVIL_INLINE T mod(T a, T b) {
  const T r = remainder(a, b);
  if (r == 0) return b < 0 ? -__builtin_fabs(r) : __builtin_fabs(r);
  return (r < 0) != (b < 0) ? r + b : r;
}
template <FloatVector T, class Function>
CUVIL_INLINE T map_lane_pairs(T a, T b, Function f) {
  float x[T::kLanes], y[T::kLanes];
  a.store(x);
  b.store(y);
  for (int i = 0; i < T::kLanes; ++i) x[i] = f(x[i], y[i]);
  return T::load(x);
}
template <FloatVector T>
CUVIL_INLINE T remainder(T a, T b) {
  return map_lane_pairs(a, b, [](float x, float y) { return remainder(x, y); });
}
template <FloatVector T>
CUVIL_INLINE T mod(T a, T b) {
  return map_lane_pairs(a, b, [](float x, float y) { return mod(x, y); });
}

// --- comparisons, logic, selection ---

template <class T>
CUVIL_INLINE auto eq(T a, T b) {
  return a == b;
}
template <class T>
CUVIL_INLINE auto ne(T a, T b) {
  return a != b;
}
template <class T>
CUVIL_INLINE auto lt(T a, T b) {
  return a < b;
}
template <class T>
CUVIL_INLINE auto le(T a, T b) {
  return a <= b;
}
template <class T>
CUVIL_INLINE auto gt(T a, T b) {
  return a > b;
}
template <class T>
CUVIL_INLINE auto ge(T a, T b) {
  return a >= b;
}
CUVIL_INLINE bool logical_and(bool a, bool b) { return a & b; }
CUVIL_INLINE bool logical_or(bool a, bool b) { return a | b; }
CUVIL_INLINE bool logical_xor(bool a, bool b) { return a ^ b; }
CUVIL_INLINE bool logical_not(bool a) { return !a; }
CUVIL_INLINE Mask logical_and(Mask a, Mask b) { return a & b; }
CUVIL_INLINE Mask logical_or(Mask a, Mask b) { return a | b; }
CUVIL_INLINE Mask logical_xor(Mask a, Mask b) { return a ^ b; }
CUVIL_INLINE Mask logical_not(Mask a) { return ~a; }
CUVIL_INLINE F32 select(Mask m, F32 a, F32 b) { return simd::select(m, a, b); }
template <Number T>
CUVIL_INLINE T select(bool condition, T a, T b) {
  return condition ? a : b;
}
using simd::is_nan;
template <Real T>
CUVIL_INLINE bool is_nan(T x) {
  return x != x;
}
template <FloatVector T>
CUVIL_INLINE auto is_inf(T x) {
  return abs(x) == T::splat(detail::kInfinity);
}
template <Real T>
CUVIL_INLINE bool is_inf(T x) {
  return __builtin_fabs(x) == static_cast<double>(detail::kInfinity);
}

// --- minima, maxima, signs ---

CUVIL_INLINE F32 min(F32 a, F32 b) { return simd::min(a, b); }
CUVIL_INLINE F32 max(F32 a, F32 b) { return simd::max(a, b); }
template <Number T>
CUVIL_INLINE T min(T a, T b) {
  return a != a || a < b ? a : b;  // a != a: a NaN stays
}
template <Number T>
CUVIL_INLINE T max(T a, T b) {
  return a != a || a > b ? a : b;
}
using simd::clamp;
template <Number T>
CUVIL_INLINE T clamp(T x, T low, T high) {
  const T raised = low > x ? low : x;
  return high < raised ? high : raised;
}
using simd::relu;
template <Number T>
CUVIL_INLINE T relu(T x) {
  return x < static_cast<T>(0) ? static_cast<T>(0) : x;
}
CUVIL_INLINE F32 abs(F32 x) { return simd::abs(x); }
CUVIL_INLINE float abs(float x) { return __builtin_fabsf(x); }
CUVIL_INLINE double abs(double x) { return __builtin_fabs(x); }
template <Integer T>
CUVIL_INLINE T abs(T x) {
  return x < 0 ? neg(x) : x;
}
// -1, 0 or 1; zeros keep their sign and NaN stays NaN.
CUVIL_INLINE F32 sign(F32 x) {
  const F32 one = simd::copysign(F32::splat(1.0f), x);
  return simd::select((x < F32::zero()) | (x > F32::zero()), one, x);
}
template <Number T>
CUVIL_INLINE T sign(T x) {
  if (x > static_cast<T>(0)) return static_cast<T>(1);
  return x < static_cast<T>(0) ? static_cast<T>(-1) : x;
}
CUVIL_INLINE F32 fma(F32 a, F32 b, F32 c) { return simd::fma(a, b, c); }
CUVIL_INLINE float fma(float a, float b, float c) {
  using One = simd::one_lane::F32;
  return simd::one_lane::fma(One{a}, One{b}, One{c}).v;
}
CUVIL_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <Integer T>
CUVIL_INLINE T fma(T a, T b, T c) {
  return add(mul(a, b), c);
}

// --- bits ---

template <Integer T>
CUVIL_INLINE T bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <Integer T>
CUVIL_INLINE T bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <Integer T>
CUVIL_INLINE T bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <Integer T>
CUVIL_INLINE T bit_not(T a) {
  return static_cast<T>(~a);
}
// A shift by the width or more gives 0, as numpy does for unsigned numbers.
template <Integer T>
CUVIL_INLINE T shift_left(T a, T count) {
  const uint64_t n = static_cast<uint64_t>(count);
  return n < 8 * sizeof(T) ? static_cast<T>(static_cast<uint64_t>(a) << n) : static_cast<T>(0);
}
template <Integer T>
CUVIL_INLINE T shift_right(T a, T count) {
  const uint64_t n = static_cast<uint64_t>(count);
  return n < 8 * sizeof(T) ? static_cast<T>(a >> n) : static_cast<T>(0);
}

// --- functions of one number, and pow ---

#define CUVIL_MATH_UNARY(name, double_builtin)                                        \
  CUVIL_INLINE F32 name(F32 x) { return detail::name(x); }                            \
  CUVIL_INLINE float name(float x) { return detail::name(simd::one_lane::F32{x}).v; } \
  CUVIL_INLINE double name(double x) { return double_builtin(x); }

#define CUVIL_MATH_ROUNDING(name, float_builtin, double_builtin)   \
  CUVIL_INLINE F32 name(F32 x) { return simd::name(x); }           \
  CUVIL_INLINE float name(float x) { return float_builtin(x); }    \
  CUVIL_INLINE double name(double x) { return double_builtin(x); } \
  template <Integer T>                                             \
  CUVIL_INLINE T name(T x) {                                       \
    return x;                                                      \
  }

CUVIL_MATH_ROUNDING(floor, __builtin_floorf, __builtin_floor)
CUVIL_MATH_ROUNDING(ceil, __builtin_ceilf, __builtin_ceil)
CUVIL_MATH_ROUNDING(trunc, __builtin_truncf, __builtin_trunc)
CUVIL_MATH_ROUNDING(round_even, __builtin_rintf, __builtin_rint)

CUVIL_INLINE F32 sqrt(F32 x) { return simd::sqrt(x); }
CUVIL_INLINE float sqrt(float x) { return simd::one_lane::sqrt(simd::one_lane::F32{x}).v; }
CUVIL_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
template <class T>
CUVIL_INLINE T reciprocal(T x) {
  return div(constant<T>(1), x);
}
template <class T>
CUVIL_INLINE T rsqrt(T x) {
  return div(constant<T>(1), sqrt(x));
}

CUVIL_MATH_UNARY(exp, __builtin_exp)
CUVIL_MATH_UNARY(expm1, __builtin_expm1)
CUVIL_MATH_UNARY(log, __builtin_log)
CUVIL_MATH_UNARY(log1p, __builtin_log1p)
CUVIL_MATH_UNARY(tanh, __builtin_tanh)
CUVIL_MATH_UNARY(erf, __builtin_erf)
CUVIL_MATH_UNARY(sin, __builtin_sin)
CUVIL_MATH_UNARY(cos, __builtin_cos)
CUVIL_MATH_UNARY(tan, __builtin_tan)
CUVIL_MATH_UNARY(asin, __builtin_asin)
CUVIL_MATH_UNARY(acos, __builtin_acos)
CUVIL_MATH_UNARY(atan, __builtin_atan)
CUVIL_MATH_UNARY(sinh, __builtin_sinh)
CUVIL_MATH_UNARY(cosh, __builtin_cosh)
CUVIL_MATH_UNARY(asinh, __builtin_asinh)
CUVIL_MATH_UNARY(acosh, __builtin_acosh)
CUVIL_MATH_UNARY(atanh, __builtin_atanh)
#undef CUVIL_MATH_UNARY
#undef CUVIL_MATH_ROUNDING

CUVIL_INLINE F32 sigmoid(F32 x) { return detail::sigmoid(x); }
CUVIL_INLINE float sigmoid(float x) { return detail::sigmoid(simd::one_lane::F32{x}).v; }
CUVIL_INLINE double sigmoid(double x) {
  const double e = exp(-abs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
CUVIL_INLINE F32 softplus(F32 x) { return detail::softplus(x); }
CUVIL_INLINE float softplus(float x) { return detail::softplus(simd::one_lane::F32{x}).v; }
CUVIL_INLINE double softplus(double x) { return max(0.0, x) + log1p(exp(-abs(x))); }

CUVIL_INLINE F32 pow(F32 x, F32 y) { return detail::pow(x, y); }
CUVIL_INLINE float pow(float x, float y) { return detail::pow(simd::one_lane::F32{x}, simd::one_lane::F32{y}).v; }
CUVIL_INLINE double pow(double x, double y) { return __builtin_pow(x, y); }
// By squaring, wrapping; a negative power of anything but 1 and -1 is 0.
template <Integer T>
CUVIL_INLINE T pow(T x, T y) {
  if (y < 0) {
    if (x == static_cast<T>(-1)) return (y & 1) != 0 ? x : static_cast<T>(1);
    return x == static_cast<T>(1) ? x : static_cast<T>(0);
  }
  T result = 1;
  for (T n = y; n != 0; n = static_cast<T>(n >> 1)) {
    if ((n & 1) != 0) result = mul(result, x);
    x = mul(x, x);
  }
  return result;
}

}  // namespace cuvil::math

#endif  // CUVIL_SIMD_MATH_H
