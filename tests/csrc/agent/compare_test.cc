// The verdict on a device: wrong answers must fail and right ones pass, with NaN, infinities and every dtype.
#include "agent/compare.h"

#include <cmath>
#include <cstdint>

#include "abi/cuvil_abi.h"
#include "check.h"

using cuvil::compare_tensors;
using cuvil::Difference;

int main() {
  const float want[] = {0, 10, -100, 1};
  float got[] = {0, 10, -100, 1};
  Difference d = compare_tensors(CUVIL_F32, got, want, 4, {0, 0});
  CHECK(d.mismatches == 0 && d.max_abs_error == 0 && d.max_rel_error == 0, "equal");
  got[3] = 1.009f;  // within 1e-4 of the range of 100
  d = compare_tensors(CUVIL_F32, got, want, 4, {1e-4, 0});
  CHECK(d.mismatches == 0 && std::fabs(d.max_rel_error - 9e-5) < 1e-6, "%g", d.max_rel_error);
  got[3] = 1.02f;
  CHECK(compare_tensors(CUVIL_F32, got, want, 4, {1e-4, 0}).mismatches == 1, "outside");
  CHECK(compare_tensors(CUVIL_F32, got, want, 4, {1e-4, 0.02}).mismatches == 0, "absolute part");
  got[3] = NAN;
  d = compare_tensors(CUVIL_F32, got, want, 4, {1, 1});
  CHECK(d.mismatches == 1 && d.nan_count == 1 && std::isfinite(d.max_abs_error), "NaN where a number should be");
  const float odd_want[] = {NAN, INFINITY, -INFINITY, 1}, odd_got[] = {NAN, INFINITY, -INFINITY, 1};
  CHECK(compare_tensors(CUVIL_F32, odd_got, odd_want, 4, {0, 0}).mismatches == 0,
        "NaN and infinities equal themselves");
  const float flipped[] = {1, -INFINITY, 5, INFINITY};
  CHECK(compare_tensors(CUVIL_F32, flipped, odd_want, 4, {1, 1e30}).mismatches == 4, "and nothing else");
  const float zeros[] = {0, 0};
  const float small[] = {1e-7f, 0};
  CHECK(compare_tensors(CUVIL_F32, small, zeros, 2, {1e-4, 0}).mismatches == 1, "an expected tensor of zeros");
  CHECK(compare_tensors(CUVIL_F32, small, zeros, 2, {1e-4, 1e-6}).mismatches == 0, "has the absolute part");

  const uint16_t half_want[] = {0x3C00, 0x0001, 0x7C00, 0xC000}, half_got[] = {0x3C01, 0x0001, 0x7C00, 0xC000};
  d = compare_tensors(CUVIL_F16, half_got, half_want, 4, {0, 0});
  CHECK(d.mismatches == 1 && std::fabs(d.max_abs_error - std::ldexp(1, -10)) < 1e-12, "f16: %g", d.max_abs_error);
  const uint16_t brain_want[] = {0x3F80}, brain_got[] = {0x4000};
  CHECK(compare_tensors(CUVIL_BF16, brain_got, brain_want, 1, {0, 0}).max_abs_error == 1, "bf16");
  const double wide_want[] = {1}, wide_got[] = {1 + 1e-12};
  CHECK(compare_tensors(CUVIL_F64, wide_got, wide_want, 1, {0, 1e-13}).mismatches == 1, "f64");

  const int64_t big_want[] = {INT64_MAX, 0}, big_got[] = {INT64_MAX - 1, 0};
  CHECK(compare_tensors(CUVIL_I64, big_got, big_want, 2, {1, 1e30}).mismatches == 1, "integers have no tolerance");
  const uint8_t byte_want[] = {1, 0}, byte_got[] = {1, 1};
  CHECK(compare_tensors(CUVIL_BOOL, byte_got, byte_want, 2, {1, 1}).mismatches == 1, "bool");
  CHECK(compare_tensors(CUVIL_F32, nullptr, nullptr, 0, {0, 0}).mismatches == 0, "empty");
  return cuvil::test::finish("compare");
}
