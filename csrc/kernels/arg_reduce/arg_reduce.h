// arg_reduce: the position of the largest or smallest element along one axis. A NaN counts as both.
//
// operands: input [outer, n, inner], output [outer, inner] of i64.
// extents:  outer, n, inner, outer points of a work item.
// Work items are blocks of outer points.
#ifndef CUVIL_KERNELS_ARG_REDUCE_ARG_REDUCE_H
#define CUVIL_KERNELS_ARG_REDUCE_ARG_REDUCE_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"

namespace cuvil::kernels::arg_reduce {

struct Config {
  bool largest;
  bool last;  // of equal elements, the last one
};

// Whether `a`, which comes later, takes the place of `b`.
template <Config kConfig, class V>
CUVIL_INLINE bool replaces(V a, V b) {
  const bool better = kConfig.largest ? a > b : a < b;
  if constexpr (std::is_floating_point_v<V>) {
    if (b != b) return kConfig.last && a != a;
    if (a != a) return true;
  }
  return better || (kConfig.last && a == b);
}

template <class T, Config kConfig>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const int64_t outer = extents[0], n = extents[1], inner = extents[2], outer_of_item = extents[3];
  constexpr int kBlock = 32;
  const int64_t last = end * outer_of_item < outer ? end * outer_of_item : outer;
  for (int64_t point = begin * outer_of_item; point < last; ++point) {
    const T* x = static_cast<const T*>(operands[0]) + point * n * inner;
    int64_t* y = static_cast<int64_t*>(operands[1]) + point * inner;
    for (int64_t c = 0; c < inner; c += kBlock) {
      const int count = inner - c < kBlock ? static_cast<int>(inner - c) : kBlock;
      Value<T> best[kBlock];
      int64_t where[kBlock] = {};
      for (int i = 0; i < count; ++i) best[i] = load(x[c + i]);
      for (int64_t k = 1; k < n; ++k) {
        for (int i = 0; i < count; ++i) {
          const Value<T> candidate = load(x[k * inner + c + i]);
          const bool better = replaces<kConfig>(candidate, best[i]);
          best[i] = better ? candidate : best[i];
          where[i] = better ? k : where[i];
        }
      }
      for (int i = 0; i < count; ++i) y[c + i] = where[i];
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::arg_reduce

#endif  // CUVIL_KERNELS_ARG_REDUCE_ARG_REDUCE_H
