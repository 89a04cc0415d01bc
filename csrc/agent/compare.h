// How far an output is from the expected one.
#pragma once

#include <cstdint>

namespace cuvil {

struct Tolerance {
  double relative = 0;  // of the largest finite magnitude in the whole expected tensor
  double absolute = 0;
};

struct Difference {
  double max_abs_error = 0;  // over the elements that are finite in both
  double max_rel_error = 0;  // max_abs_error / largest finite magnitude expected (0 when nothing differs)
  uint64_t mismatches = 0;
  uint64_t nan_count = 0;  // in what was computed
};

/// Compares `count` elements of `dtype` (cuvil_dtype). A floating-point element passes when it differs by at most
/// absolute + relative * max|expected|; NaN equals NaN and an infinity equals itself; integers and bools must be equal.
Difference compare_tensors(uint32_t dtype, const void* got, const void* expected, uint64_t count, Tolerance tolerance);

}  // namespace cuvil
