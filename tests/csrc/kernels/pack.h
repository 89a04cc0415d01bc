// Packing of B as the compiler does it, and comparison with sums in double.
#ifndef CUVIL_TESTS_CSRC_KERNELS_PACK_H
#define CUVIL_TESTS_CSRC_KERNELS_PACK_H

#include <math.h>

#include "../guarded.h"
#include "kernels/matmul/tile.h"

namespace cuvil::test {

inline int64_t round_up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// at(k, column) for k < depth and column < columns, as panels of `vectors` vectors; returns the end.
template <class At>
float* pack(float* to, int64_t depth, int64_t columns, int64_t vectors, At at) {
  const int64_t lanes = simd::kLanes, all = round_up(columns, lanes) / lanes;
  for (int64_t first = 0; first < all; first += vectors) {
    const int64_t width = (all - first < vectors ? all - first : vectors) * lanes;
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t c = 0; c < width; ++c) {
        const int64_t column = first * lanes + c;
        *to++ = column < columns ? at(k, column) : 0.0f;
      }
    }
  }
  return to;
}

inline void fill(Guarded<float>& data, Random& random) {
  for (size_t i = 0; i < data.size(); ++i) data[i] = random.unit();
}

// Within the rounding of `terms` additions of numbers up to about 1.
inline bool close(float got, double want, int64_t terms) {
  return fabs(static_cast<double>(got) - want) <= 1e-6 + 2e-7 * static_cast<double>(terms) + 4e-6 * fabs(want);
}

}  // namespace cuvil::test

#endif  // CUVIL_TESTS_CSRC_KERNELS_PACK_H
