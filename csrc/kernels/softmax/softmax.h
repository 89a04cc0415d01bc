// softmax: e^x / sum(e^x) along one axis of a dense tensor, from x - max(x); or its logarithm.
//
// The tensor is [outer, n, columns] with the axis in the middle. With kRows, columns is 1 and each row is contiguous.
// operands: input, output (may be the same memory).
// extents:  outer, n, columns; outer points and columns of a work item.
// Work items are blocks of outer points times blocks of columns, columns innermost.
#ifndef CUVIL_KERNELS_SOFTMAX_SOFTMAX_H
#define CUVIL_KERNELS_SOFTMAX_SOFTMAX_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "simd/math.h"

namespace cuvil::kernels::softmax {

using simd::F32;
using simd::Mask;

inline constexpr int kLanes = simd::kLanes;
inline constexpr int kChains = 4;  // independent accumulators, to cover the latency of an operation

// The largest element; NaNs are ignored here, they come back in the sum.
CUVIL_INLINE float row_maximum(const float* x, int64_t n) {
  const F32 lowest = F32::splat(-__builtin_inff());
  F32 top[kChains] = {lowest, lowest, lowest, lowest};
  int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
    for (int c = 0; c < kChains; ++c) top[c] = max_or_second(F32::load(x + i + c * kLanes), top[c]);
  }
  for (; i + kLanes <= n; i += kLanes) top[0] = max_or_second(F32::load(x + i), top[0]);
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    top[1] = max_or_second(select(Mask::first(rest), F32::load_partial(x + i, rest), lowest), top[1]);
  }
  return reduce_max(max_or_second(max_or_second(top[0], top[1]), max_or_second(top[2], top[3])));
}

// y = e^(x - top), unless only the sum is wanted; returns the sum.
template <bool kStore>
CUVIL_INLINE float row_exponentials(const float* x, float* y, int64_t n, float top) {
  const F32 shift = F32::splat(top);
  F32 sum[2] = {F32::zero(), F32::zero()};
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    for (int c = 0; c < 2; ++c) {
      const F32 e = math::exp(F32::load(x + i + c * kLanes) - shift);
      if constexpr (kStore) e.store(y + i + c * kLanes);
      sum[c] = sum[c] + e;
    }
  }
  for (; i < n; i += kLanes) {
    const int count = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    const F32 e = math::exp(F32::load_partial(x + i, count) - shift);
    if constexpr (kStore) e.store_partial(y + i, count);
    sum[0] = sum[0] + select(Mask::first(count), e, F32::zero());
  }
  return reduce_add(sum[0] + sum[1]);
}

template <class Function>
CUVIL_INLINE void map_row(const float* x, float* y, int64_t n, Function f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(F32::load(x + i)).store(y + i);
  if (const int rest = static_cast<int>(n - i); rest > 0) f(F32::load_partial(x + i, rest)).store_partial(y + i, rest);
}

template <bool kLog>
CUVIL_INLINE void row(const float* x, float* y, int64_t n) {
  const float top = row_maximum(x, n);
  const float sum = row_exponentials<!kLog>(x, y, n, top);
  if constexpr (kLog) {
    const F32 shift = F32::splat(top), log_sum = F32::splat(math::log(sum));
    map_row(x, y, n, [=](F32 v) { return v - shift - log_sum; });
  } else {
    const F32 scale = F32::splat(1.0f / sum);
    map_row(y, y, n, [=](F32 v) { return v * scale; });
  }
}

inline constexpr int kColumnVectors = 8;  // neighbouring columns done together, so that rows are read in long pieces

// kVectors vectors of columns, or with kVectors = 0 the first `lanes` of one; `step` elements lie between rows.
template <bool kLog, int kVectors>
CUVIL_INLINE void vector_columns(const float* x, float* y, int64_t n, ptrdiff_t step, int lanes) {
  constexpr bool kFull = kVectors > 0;
  constexpr int kCount = kFull ? kVectors : 1;
  const auto read = [&](const float* p) { return kFull ? F32::load(p) : F32::load_partial(p, lanes); };
  const auto write = [&](float* p, F32 v) { return kFull ? v.store(p) : v.store_partial(p, lanes); };
  F32 top[kCount], sum[kCount];
  for (int v = 0; v < kCount; ++v) top[v] = F32::splat(-__builtin_inff()), sum[v] = F32::zero();
  for (int64_t i = 0; i < n; ++i) {
    for (int v = 0; v < kCount; ++v) top[v] = max_or_second(read(x + i * step + v * kLanes), top[v]);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int v = 0; v < kCount; ++v) {
      const F32 e = math::exp(read(x + i * step + v * kLanes) - top[v]);
      sum[v] = sum[v] + e;
      if constexpr (!kLog) write(y + i * step + v * kLanes, e);
    }
  }
  for (int v = 0; v < kCount; ++v) sum[v] = kLog ? top[v] + math::log(sum[v]) : F32::splat(1.0f) / sum[v];
  for (int64_t i = 0; i < n; ++i) {
    for (int v = 0; v < kCount; ++v) {
      const int64_t at = i * step + v * kLanes;
      write(y + at, kLog ? read(x + at) - sum[v] : read(y + at) * sum[v]);
    }
  }
}

// Any float type, one column at a time; nothing is rounded to T on the way.
template <bool kLog, class T>
CUVIL_INLINE void plain_column(const T* x, T* y, int64_t n, ptrdiff_t step) {
  using V = Value<T>;
  V top = -static_cast<V>(__builtin_inf()), sum = 0;
  for (int64_t i = 0; i < n; ++i) top = math::max(top, load(x[i * step]));
  for (int64_t i = 0; i < n; ++i) sum += math::exp(load(x[i * step]) - top);
  const V log_sum = kLog ? math::log(sum) : V{0};
  for (int64_t i = 0; i < n; ++i) {
    const V shifted = load(x[i * step]) - top;
    y[i * step] = store<T>(kLog ? shifted - log_sum : math::exp(shifted) / sum);
  }
}

template <class T, bool kRows, bool kLog>
CUVIL_INLINE void columns(const T* x, T* y, int64_t n, ptrdiff_t step, int64_t count) {
  if constexpr (!std::is_same_v<T, float>) {
    for (int64_t c = 0; c < count; ++c) plain_column<kLog>(x + c, y + c, n, step);
  } else if constexpr (kRows) {
    row<kLog>(x, y, n);
  } else {
    int64_t c = 0;
    for (; c + kColumnVectors * kLanes <= count; c += kColumnVectors * kLanes) {
      vector_columns<kLog, kColumnVectors>(x + c, y + c, n, step, 0);
    }
    for (; c + kLanes <= count; c += kLanes) vector_columns<kLog, 1>(x + c, y + c, n, step, 0);
    if (c < count) vector_columns<kLog, 0>(x + c, y + c, n, step, static_cast<int>(count - c));
  }
}

template <class T, bool kRows, bool kLog>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const int64_t outer = extents[0], n = extents[1], width = extents[2];
  const int64_t outer_of_item = extents[3], columns_of_item = extents[4];
  const int64_t column_blocks = (width + columns_of_item - 1) / columns_of_item;
  for (uint32_t item = begin; item < end; ++item) {
    const int64_t c = item % column_blocks * columns_of_item, first = item / column_blocks * outer_of_item;
    const int64_t count = width - c < columns_of_item ? width - c : columns_of_item;
    const int64_t last = first + outer_of_item < outer ? first + outer_of_item : outer;
    for (int64_t point = first; point < last; ++point) {
      const int64_t offset = point * n * width + c;
      columns<T, kRows, kLog>(static_cast<const T*>(operands[0]) + offset, static_cast<T*>(operands[1]) + offset, n,
                              width, count);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::softmax

#endif  // CUVIL_KERNELS_SOFTMAX_SOFTMAX_H
