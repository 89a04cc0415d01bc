// Every function of math.h against the double-precision C library: error in ulps over floats of all sizes, special
// values, and the plain float overloads giving the bits of the vectors.
#include "simd/math.h"

#include <math.h>
#include <string.h>

#include "../check.h"

namespace {

using cuvil::simd::F32;
using cuvil::simd::kLanes;
namespace math = cuvil::math;

#ifndef CUVIL_TEST_STRIDE
#define CUVIL_TEST_STRIDE 100003  // 5003 was tried too: a minute
#endif

float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// Distance in units of the last place of a float of `want`'s size.
double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (isnan(want)) return isnan(got) ? 0 : 1e9;
  if (isinf(rounded)) {
    if (got == rounded) return 0;
    // The largest floats round to infinity from below the limit: compare as if the range went on.
    return isnan(got) || isinf(got) ? 1e9 : fabs((static_cast<double>(got) - want) / 0x1p104);
  }
  if (isinf(got) && fabs(want) > 0x1.fffffcp127) return (0x1p128 - fabs(want)) / 0x1p104;
  if (isnan(got) || isinf(got)) return 1e9;
  int exponent = 0;
  frexp(want, &exponent);
  const double ulp = ldexp(1.0, exponent - 24 < -149 ? -149 : exponent - 24);
  return fabs(static_cast<double>(got) - want) / ulp;
}

template <class Function, class Reference>
void check_unary(const char* name, double limit, Function function, Reference reference) {
  float in[kLanes], out[kLanes];
  double worst = 0;
  float worst_x = 0;
  int count = 0;
  auto flush = [&] {
    for (int i = count; i < kLanes; ++i) in[i] = 1.0f;
    function(F32::load(in)).store(out);
    for (int i = 0; i < count; ++i) {
      const float alone = function(in[i]);
      CHECK(memcmp(&alone, &out[i], 4) == 0 || (isnan(alone) && isnan(out[i])), "%s(%a): vector %a, float %a", name,
            static_cast<double>(in[i]), static_cast<double>(out[i]), static_cast<double>(alone));
      const double exact = reference(static_cast<double>(in[i]));
      const double error = ulps(out[i], exact);
      if (error > worst) worst = error, worst_x = in[i];
      CHECK(exact != 0 || signbit(exact) == signbit(out[i]), "%s(%a): sign of zero", name, static_cast<double>(in[i]));
    }
    count = 0;
  };
  auto add = [&](float x) {
    in[count++] = x;
    if (count == kLanes) flush();
  };
  const float specials[] = {
      0.0f,      -0.0f,     1.0f,       -1.0f,     0.5f,       -0.5f,           INFINITY,         -INFINITY,
      NAN,       0x1p-149f, -0x1p-149f, 0x1p-126f, -0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f, 88.0f,
      88.72283f, 88.72284f, 89.0f,      -87.3f,    -87.34f,    -100.0f,         -103.0f,          -103.98f,
      -104.0f,   -120.0f,   100000.0f,  1e10f,     1e30f};
  for (float x : specials) add(x);
  for (uint64_t bits = 0; bits < (1ull << 32); bits += CUVIL_TEST_STRIDE) add(from_bits(static_cast<uint32_t>(bits)));
  for (int i = -20000; i <= 20000; ++i) add(static_cast<float>(i) * 0.0031f);
  flush();
  CHECK(worst <= limit, "%s: %.3f ulp at %a (%g), limit %.1f", name, worst, static_cast<double>(worst_x),
        static_cast<double>(worst_x), limit);
  if (worst <= limit) printf("%-10s %.3f ulp (at %g)\n", name, worst, static_cast<double>(worst_x));
}

#define CHECK_UNARY(name, limit, reference) \
  check_unary(                              \
      #name, limit, [](auto x) { return math::name(x); }, [](double x) -> double { return reference; })

void check_pow() {
  const float values[] = {
      0.0f,        -0.0f,      1.0f,       -1.0f,       0.5f,      -0.5f,           2.0f,
      -2.0f,       3.0f,       -3.0f,      0.7f,        1.5f,      -2.5f,           INFINITY,
      -INFINITY,   NAN,        0x1p-149f,  -0x1p-140f,  0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f,
      16777217.0f, 8388609.0f, 1.0000001f, 0.99999994f, 127.0f,    128.0f,          -149.0f,
      -150.0f,     -126.5f,    1e9f,       -1e9f};
  double worst = 0;
  float worst_x = 0, worst_y = 0;
  auto try_one = [&](float x, float y) {
    float out[kLanes];
    math::pow(F32::splat(x), F32::splat(y)).store(out);
    const double want = pow(static_cast<double>(x), static_cast<double>(y));
    const double error = ulps(out[0], want);
    CHECK(want != 0 || signbit(want) == signbit(out[0]), "pow(%a, %a): sign of zero", static_cast<double>(x),
          static_cast<double>(y));
    if (error > worst) worst = error, worst_x = x, worst_y = y;
    const float alone = math::pow(x, y);
    CHECK(memcmp(&alone, &out[0], 4) == 0 || (isnan(alone) && isnan(out[0])), "pow(%a, %a): float overload",
          static_cast<double>(x), static_cast<double>(y));
  };
  for (float x : values)
    for (float y : values) try_one(x, y);
  uint64_t state = 1;
  for (int i = 0; i < 4000000000ll / CUVIL_TEST_STRIDE; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const float x = from_bits(static_cast<uint32_t>(state >> 32) & 0x7fffffff);
    const float y = static_cast<float>(static_cast<int32_t>(state >> 20)) * ((i & 1) ? 0x1p-24f : 0x1p-30f);
    if (!isnan(x)) try_one(x, y);
    const float near_one = 1.0f + static_cast<float>(static_cast<int32_t>(state)) * 0x1p-33f;
    try_one(near_one, y * 8.0f);
  }
  CHECK(worst <= 2.0, "pow: %.3f ulp at (%a, %a)", worst, static_cast<double>(worst_x), static_cast<double>(worst_y));
  if (worst <= 2.0)
    printf("pow        %.3f ulp (at %g, %g)\n", worst, static_cast<double>(worst_x), static_cast<double>(worst_y));
}

void check_integers() {
  CHECK(math::div(7, -2) == -3 && math::div(1, 0) == 0 && math::div(INT32_MIN, -1) == INT32_MIN, "div");
  CHECK(
      math::mod(-7, 3) == 2 && math::mod(7, -3) == -2 && math::mod(5, 0) == 0 && math::mod(INT64_MIN, int64_t{-1}) == 0,
      "mod");
  CHECK(math::remainder(-7, 3) == -1 && math::remainder(7, -3) == 1, "remainder");
  CHECK(math::mod(-7.0f, 3.0f) == 2.0f && math::mod(7.0, -3.0) == -2.0 && signbit(math::mod(-6.0f, 3.0f)) == 0,
        "real mod");
  CHECK(math::add<int8_t>(127, 1) == -128 && math::mul(INT32_MAX, 2) == -2 && math::neg(INT32_MIN) == INT32_MIN,
        "wrap");
  CHECK(math::pow(3, 4) == 81 && math::pow(-2, 3) == -8 && math::pow(2, -1) == 0 && math::pow(-1, -3) == -1, "pow");
  CHECK(math::shift_left<uint8_t>(1, 7) == 128 && math::shift_left<uint32_t>(1, 32) == 0, "shift");
  CHECK(isnan(math::max(NAN, 1.0f)) && isnan(math::max(1.0f, NAN)) && isnan(math::min(1.0, static_cast<double>(NAN))),
        "NaN");
  CHECK(math::sign(-3) == -1 && math::sign(2.5f) == 1.0f && isnan(math::sign(NAN)), "sign");
}

}  // namespace

int main() {
  CHECK_UNARY(exp, 1.0, exp(x));
  CHECK_UNARY(expm1, 1.5, expm1(x));
  CHECK_UNARY(log, 1.0, log(x));
  CHECK_UNARY(log1p, 2.0, log1p(x));
  CHECK_UNARY(sigmoid, 3.0, 1 / (1 + exp(-x)));
  CHECK_UNARY(softplus, 2.5, (x > 0 ? x : 0) + log1p(exp(-fabs(x))));
  CHECK_UNARY(tanh, 3.0, tanh(x));
  CHECK_UNARY(erf, 1.5, erf(x));
  CHECK_UNARY(sin, 1.5, sin(x));
  CHECK_UNARY(cos, 1.5, cos(x));
  CHECK_UNARY(tan, 3.0, tan(x));
  CHECK_UNARY(asin, 3.0, asin(x));
  CHECK_UNARY(acos, 3.0, acos(x));
  CHECK_UNARY(atan, 2.5, atan(x));
  CHECK_UNARY(sinh, 3.0, sinh(x));
  CHECK_UNARY(cosh, 3.0, cosh(x));
  CHECK_UNARY(asinh, 3.5, asinh(x));
  CHECK_UNARY(acosh, 3.5, x < 1 ? NAN : acosh(x));  // not every libm refuses negative numbers
  CHECK_UNARY(atanh, 3.5, atanh(x));
  CHECK_UNARY(sqrt, 0.5, sqrt(x));
  CHECK_UNARY(floor, 0.0, floor(x));
  CHECK_UNARY(ceil, 0.0, ceil(x));
  CHECK_UNARY(trunc, 0.0, trunc(x));
  CHECK_UNARY(round_even, 0.0, nearbyint(x));
  check_pow();
  check_integers();
  return cuvil::test::finish("math_test");
}
