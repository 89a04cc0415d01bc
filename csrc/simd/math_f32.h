// Elementary functions of f32, written once over the vector interface. Callers include math.h, which adds the overloads
// for plain numbers.
//
// Largest error against the exact value, in units of the last place: tests/csrc/simd/math_test.cc holds each function
// to its own limit, from 1 (exp, log) to 3.5 (asinh). NaN gives NaN; infinities, zeros, overflow and denormals are as
// in C's <math.h>. Coefficients: scripts/fit_math.py.
#ifndef CUVIL_SIMD_MATH_F32_H
#define CUVIL_SIMD_MATH_F32_H

#include "simd/simd.h"

namespace cuvil::math::detail {

using simd::FloatVector;

template <FloatVector V>
using Int = decltype(bitcast_i32(V{}));

inline constexpr float kInfinity = __builtin_inff();
inline constexpr float kLog2E = 0x1.715476p+0f;
inline constexpr float kLn2High = 0x1.62e4p-1f;  // few bits, so that its product with an exponent is exact
inline constexpr float kLn2Low = 0x1.7f7d1cp-20f;
inline constexpr float kHalfPiHigh = 0x1.921fb6p+0f;
inline constexpr float kHalfPiMiddle = -0x1.777a5cp-25f;
inline constexpr float kHalfPiLow = -0x1.ee59dap-50f;

// c0 + c1 x + c2 x^2 + ... by Horner's rule.
template <FloatVector V>
CUVIL_INLINE V polynomial(V, float c0) {
  return V::splat(c0);
}
template <FloatVector V, class... Rest>
CUVIL_INLINE V polynomial(V x, float c0, Rest... rest) {
  return fma(polynomial(x, rest...), x, V::splat(c0));
}

// e^r for |r| <= ln(2) / 2.
template <FloatVector V>
CUVIL_INLINE V exp_reduced(V r) {
  const V p = polynomial(r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558b0p-5f, 0x1.12398ep-7f, 0x1.6a4d60p-10f);
  return fma(r * r, p, r) + V::splat(1.0f);
}

template <FloatVector V>
CUVIL_INLINE V expm1_reduced(V r) {
  const V p = polynomial(r, 0.5f, 0x1.555556p-3f, 0x1.5554f6p-5f, 0x1.111004p-7f, 0x1.6d3c98p-10f, 0x1.a242f4p-13f);
  return fma(r * r, p, r);
}

// x = n ln(2) + r with |r| <= ln(2) / 2 and n integral; returns r.
template <FloatVector V>
CUVIL_INLINE V reduce_by_ln2(V x, V& n) {
  n = round_even(x * V::splat(kLog2E));
  return fma(n, V::splat(-kLn2Low), fma(n, V::splat(-kLn2High), x));
}

template <FloatVector V>
CUVIL_INLINE V exp(V x) {
  V n;
  const V r = reduce_by_ln2(simd::clamp(x, V::splat(-105.0f), V::splat(89.0f)), n);
  return times_power_of_two(exp_reduced(r), n);
}

template <FloatVector V>
CUVIL_INLINE V expm1(V x) {
  V n;
  const V r = reduce_by_ln2(simd::clamp(x, V::splat(-30.0f), V::splat(89.0f)), n);
  // 2^n may be infinite where the result is not, so everything is halved until the end.
  const V half_scale = bitcast_f32(shift_left<23>(to_i32_nearest(n) + Int<V>::splat(126)));
  const V y = fma(half_scale, expm1_reduced(r), half_scale - V::splat(0.5f));
  return select(n == V::zero(), simd::copysign(expm1_reduced(r), x), y + y);
}

// x = 2^e m with m in [sqrt(1/2), sqrt(2)), for x positive and finite; returns m.
template <FloatVector V>
CUVIL_INLINE V split_exponent(V x, V& e) {
  const auto denormal = x < V::splat(0x1p-126f);
  const Int<V> bits = bitcast_i32(select(denormal, x * V::splat(0x1p23f), x));
  const Int<V> shift = shift_right<23>(bits - Int<V>::splat(0x3f3504f3));
  e = to_f32(shift) - select(denormal, V::splat(23.0f), V::zero());
  return bitcast_f32(bits - shift_left<23>(shift));
}

template <FloatVector V>
CUVIL_INLINE V log(V x) {
  V e;
  const V f = split_exponent(x, e) - V::splat(1.0f);
  const V square = f * f;
  V y = polynomial(f, 0x1.555548p-2f, -0x1.000006p-2f, 0x1.99a476p-3f, -0x1.555c46p-3f, 0x1.233ba6p-3f, -0x1.fc287ap-4f,
                   0x1.e6bf64p-4f, -0x1.de0362p-4f, 0x1.147684p-4f);
  y = fma(e, V::splat(kLn2Low), y * square * f);
  y = f + fma(V::splat(-0.5f), square, y);
  y = fma(e, V::splat(kLn2High), y);
  y = select(x == V::splat(kInfinity), x, y);
  y = select(x == V::zero(), V::splat(-kInfinity), y);
  return select(x >= V::zero(), y, V::splat(__builtin_nanf("")));
}

template <FloatVector V>
CUVIL_INLINE V log1p(V x) {
  const V one = V::splat(1.0f);
  const V u = one + x;
  // What rounding took from u, as a first-order correction.
  const V lost = select(x >= one, one - (u - x), x - (u - one));
  const V y = log(u);
  const V corrected = select(u > V::zero(), y + lost / u, y);
  return select(u == one, x, select(x == V::splat(kInfinity), x, corrected));
}

template <FloatVector V>
CUVIL_INLINE V sigmoid(V x) {
  const V one = V::splat(1.0f);
  const V e = exp(-abs(x));
  return select(x < V::zero(), e, one) / (one + e);
}

template <FloatVector V>
CUVIL_INLINE V softplus(V x) {
  return max(V::zero(), x) + log1p(exp(-abs(x)));
}

template <FloatVector V>
CUVIL_INLINE V tanh(V x) {
  const V t = expm1(simd::clamp(abs(x) * V::splat(2.0f), V::zero(), V::splat(20.0f)));
  return simd::copysign(t / (t + V::splat(2.0f)), x);
}

template <FloatVector V>
CUVIL_INLINE V erf(V x) {
  const V a = abs(x);
  const V square = x * x;
  const V small = fma(x,
                      polynomial(square, 0x1.06eba8p-3f, -0x1.812740p-2f, 0x1.ce2d62p-4f, -0x1.b800b6p-6f,
                                 0x1.5443cep-8f, -0x1.a5b9acp-11f, 0x1.4e0582p-14f),
                      x);
  const V t = simd::clamp(a, V::zero(), V::splat(4.0f));
  const V log_erfc =
      t * polynomial(t, -0x1.20e240p+0f, -0x1.45b746p-1f, -0x1.aa08b8p-4f, 0x1.58e230p-6f, -0x1.ae03fcp-10f,
                     -0x1.3607e8p-11f, 0x1.f78a6ep-13f, -0x1.3de336p-15f, 0x1.403500p-19f);
  const V large = simd::copysign(V::splat(1.0f) - exp(log_erfc), x);
  return select(a <= V::splat(0.9f), small, large);
}

template <FloatVector V>
CUVIL_INLINE V sinh(V x) {
  const V a = abs(x);
  const V half = V::splat(0.5f);
  const V e = expm1(a);
  const V root = exp(a * half);
  const V y = select(a < V::splat(9.0f), half * (e + e / (e + V::splat(1.0f))), half * root * root);
  return simd::copysign(y, x);
}

template <FloatVector V>
CUVIL_INLINE V cosh(V x) {
  const V a = abs(x);
  const V half = V::splat(0.5f);
  const V e = exp(a);
  const V root = exp(a * half);
  return select(a < V::splat(9.0f), fma(half, e, half / e), half * root * root);
}

template <FloatVector V>
CUVIL_INLINE V asinh(V x) {
  const V a = abs(x);
  const V one = V::splat(1.0f);
  const V square = a * a;
  const V near = log1p(a + square / (one + sqrt(one + square)));
  const V far = log(a) + V::splat(0x1.62e430p-1f);
  return simd::copysign(select(a > V::splat(8192.0f), far, near), x);
}

template <FloatVector V>
CUVIL_INLINE V acosh(V x) {
  const V t = x - V::splat(1.0f);
  const V near = log1p(t + sqrt(fma(t, t, t + t)));
  const V far = log(x) + V::splat(0x1.62e430p-1f);
  const V y = select(x > V::splat(8192.0f), far, near);
  return select(t >= V::zero(), y, V::splat(__builtin_nanf("")));
}

template <FloatVector V>
CUVIL_INLINE V atanh(V x) {
  const V a = abs(x);
  return simd::copysign(V::splat(0.5f) * log1p((a + a) / (V::splat(1.0f) - a)), x);
}

template <FloatVector V>
CUVIL_INLINE V atan(V x) {
  const V a = abs(x);
  const V one = V::splat(1.0f);
  const auto middle = a > V::splat(0x1.a8279ap-2f);  // tan(pi / 8)
  const auto large = a > V::splat(0x1.3504f4p+1f);   // tan(3 pi / 8)
  const V numerator = select(large, -one, select(middle, a - one, a));
  const V denominator = select(large, a, select(middle, a + one, one));
  const V base = select(large, V::splat(kHalfPiHigh), select(middle, V::splat(0.5f * kHalfPiHigh), V::zero()));
  const V t = numerator / denominator;
  const V square = t * t;
  const V p = polynomial(square, -0x1.555554p-2f, 0x1.999890p-3f, -0x1.246fc6p-3f, 0x1.c2f3dep-4f, -0x1.53477ap-4f,
                         0x1.64730ep-5f);
  return simd::copysign(base + fma(t * square, p, t), x);
}

// asin(t) for 0 <= t <= 1/2.
template <FloatVector V>
CUVIL_INLINE V asin_reduced(V t) {
  const V square = t * t;
  const V p = polynomial(square, 0x1.555556p-3f, 0x1.3332acp-4f, 0x1.6dda86p-5f, 0x1.ed5fd6p-6f, 0x1.931a36p-6f,
                         0x1.ec02aap-8f, 0x1.1be264p-5f);
  return fma(t * square, p, t);
}

template <FloatVector V>
CUVIL_INLINE V asin(V x) {
  const V a = abs(x);
  const auto large = a > V::splat(0.5f);
  const V half = V::splat(0.5f);
  const V r = asin_reduced(select(large, sqrt(fma(-a, half, half)), a));
  const V y = select(large, fma(V::splat(-2.0f), r, V::splat(kHalfPiHigh)), r);
  return simd::copysign(y, x);
}

template <FloatVector V>
CUVIL_INLINE V acos(V x) {
  const V a = abs(x);
  const auto large = a > V::splat(0.5f);
  const V half = V::splat(0.5f);
  const V r = asin_reduced(select(large, sqrt(fma(-a, half, half)), a));
  const V twice = r + r;
  const V outer = select(x > V::zero(), twice, V::splat(2.0f * kHalfPiHigh) - twice);
  const V inner = V::splat(kHalfPiHigh) - simd::copysign(r, x);
  return select(large, outer, inner);
}

}  // namespace cuvil::math::detail

#endif  // CUVIL_SIMD_MATH_F32_H
