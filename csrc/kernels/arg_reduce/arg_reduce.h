// arg_reduce: the position of the largest or smallest element along one axis. A NaN counts as both.
//
// operands: input [outer, n, inner], output [outer, inner] of i64.
// extents:  outer, n, inner, outer points of a work item.
// Work items are blocks of outer points.
#ifndef CUVIL_KERNELS_ARG_REDUCE_ARG_REDUCE_H
#define CUVIL_KERNELS_ARG_REDUCE_ARG_REDUCE_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "simd/simd.h"

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

// A contiguous row of f32: the extreme first, then where it is.
template <Config kConfig>
CUVIL_INLINE int64_t extreme_of_row(const float* x, int64_t n) {
  using simd::F32;
  using simd::Mask;
  constexpr int kLanes = simd::kLanes;
  const auto better = [](F32 a, F32 b) { return kConfig.largest ? max(a, b) : min(a, b); };
  F32 best = F32::splat(x[0]);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) best = better(best, F32::load(x + i));
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    best = better(best, select(Mask::first(rest), F32::load_partial(x + i, rest), best));
  }
  const float extreme = kConfig.largest ? reduce_max(best) : reduce_min(best);
  const F32 wanted = F32::splat(extreme);
  const auto found = [&](F32 v) { return extreme == extreme ? v == wanted : v != v; };
  const auto is_it = [&](float v) { return extreme == extreme ? v == extreme : v != v; };
  if constexpr (kConfig.last) {
    int64_t end = n;
    while (end >= kLanes && !any(found(F32::load(x + end - kLanes)))) end -= kLanes;
    while (!is_it(x[end - 1])) --end;
    return end - 1;
  } else {
    int64_t start = 0;
    while (start + kLanes <= n && !any(found(F32::load(x + start)))) start += kLanes;
    while (!is_it(x[start])) ++start;
    return start;
  }
}

template <class T, Config kConfig>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const int64_t outer = extents[0], n = extents[1], inner = extents[2], outer_of_item = extents[3];
  constexpr int kBlock = 32;
  const int64_t last = end * outer_of_item < outer ? end * outer_of_item : outer;
  for (int64_t point = begin * outer_of_item; point < last; ++point) {
    const T* x = static_cast<const T*>(operands[0]) + point * n * inner;
    int64_t* y = static_cast<int64_t*>(operands[1]) + point * inner;
    if constexpr (std::is_same_v<T, float>) {
      if (inner == 1 && n > 0) {
        *y = extreme_of_row<kConfig>(x, n);
        continue;
      }
    }
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
