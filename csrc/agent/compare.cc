#include "agent/compare.h"

#include <cmath>
#include <cstring>

#include "abi/cuvil_abi.h"

namespace cuvil {
namespace {

double from_f16(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double value = exponent == 0    ? std::ldexp(fraction, -24)
                 : exponent == 31 ? (fraction == 0 ? HUGE_VAL : NAN)
                                  : std::ldexp(1024 + fraction, exponent - 25);
  return bits >> 15 != 0 ? -value : value;
}

double from_bf16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  memcpy(&value, &wide, sizeof(value));
  return value;
}

template <class T>
T load(const void* data, uint64_t i) {
  T value;
  memcpy(&value, static_cast<const char*>(data) + i * sizeof(T), sizeof(T));
  return value;
}

template <class Load>
Difference compare_floats(const void* got, const void* expected, uint64_t count, Tolerance tolerance, Load at) {
  Difference difference;
  double range = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double want = std::fabs(at(expected, i));
    if (std::isfinite(want) && want > range) range = want;
  }
  const double limit = tolerance.absolute + tolerance.relative * range;
  for (uint64_t i = 0; i < count; ++i) {
    const double have = at(got, i), want = at(expected, i);
    difference.nan_count += std::isnan(have);
    if (std::isfinite(have) && std::isfinite(want)) {
      const double error = std::fabs(have - want);
      if (error > difference.max_abs_error) difference.max_abs_error = error;
      difference.mismatches += error > limit;
    } else if (!(have == want || (std::isnan(have) && std::isnan(want)))) {
      ++difference.mismatches;
    }
  }
  if (difference.max_abs_error > 0) difference.max_rel_error = difference.max_abs_error / range;
  return difference;
}

template <class T>
Difference compare_integers(const void* got, const void* expected, uint64_t count) {
  Difference difference;
  double range = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const T have = load<T>(got, i), want = load<T>(expected, i);
    const double magnitude = std::fabs(static_cast<double>(want));
    const double error = std::fabs(static_cast<double>(have) - static_cast<double>(want));
    if (magnitude > range) range = magnitude;
    if (error > difference.max_abs_error) difference.max_abs_error = error;
    difference.mismatches += have != want;
  }
  if (difference.max_abs_error > 0) difference.max_rel_error = difference.max_abs_error / range;
  return difference;
}

}  // namespace

Difference compare_tensors(uint32_t dtype, const void* got, const void* expected, uint64_t count, Tolerance tolerance) {
  switch (dtype) {
    case CUVIL_F32:
      return compare_floats(got, expected, count, tolerance,
                            [](const void* data, uint64_t i) -> double { return load<float>(data, i); });
    case CUVIL_F64:
      return compare_floats(got, expected, count, tolerance,
                            [](const void* data, uint64_t i) { return load<double>(data, i); });
    case CUVIL_F16:
      return compare_floats(got, expected, count, tolerance,
                            [](const void* data, uint64_t i) { return from_f16(load<uint16_t>(data, i)); });
    case CUVIL_BF16:
      return compare_floats(got, expected, count, tolerance,
                            [](const void* data, uint64_t i) { return from_bf16(load<uint16_t>(data, i)); });
    case CUVIL_I8:
      return compare_integers<int8_t>(got, expected, count);
    case CUVIL_I16:
      return compare_integers<int16_t>(got, expected, count);
    case CUVIL_U16:
      return compare_integers<uint16_t>(got, expected, count);
    case CUVIL_I32:
      return compare_integers<int32_t>(got, expected, count);
    case CUVIL_U32:
      return compare_integers<uint32_t>(got, expected, count);
    case CUVIL_I64:
      return compare_integers<int64_t>(got, expected, count);
    case CUVIL_U64:
      return compare_integers<uint64_t>(got, expected, count);
    default:
      return compare_integers<uint8_t>(got, expected, count);
  }
}

}  // namespace cuvil
