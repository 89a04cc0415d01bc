// layer_norm: each row of a dense [rows, n] tensor brought to mean 0 and variance 1, then scaled and shifted.
//
//   y = (x - mean) / sqrt(variance + epsilon) * scale + shift,  variance = mean((x - mean)^2)
//
// operands: x, scale, [shift], y, [mean, one over the standard deviation (f32 or T's float type)].
// extents:  rows, n, rows of a work item, period of scale, period of shift: row r uses the elements from
//           (r % period) * n; 1 for a plain vector of n.
// Work items are blocks of rows. Two passes over a row that stays in the cache: no cancellation for large means.
#ifndef CUVIL_KERNELS_NORMALIZE_LAYER_NORM_H
#define CUVIL_KERNELS_NORMALIZE_LAYER_NORM_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "kernels/reduce/reduce.h"
#include "simd/math.h"

namespace cuvil::kernels::normalize {

using simd::F32;
using simd::Mask;

struct Config {
  double epsilon;
  bool has_shift;
  int statistics;  // how many of mean and inverse standard deviation are wanted
};

CUVIL_INLINE float squared_distance(const float* x, int64_t n, float mean) {
  constexpr int kChains = 4, kLanes = simd::kLanes;
  const F32 center = F32::splat(mean);
  F32 sum[kChains] = {F32::zero(), F32::zero(), F32::zero(), F32::zero()};
  int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
    for (int c = 0; c < kChains; ++c) {
      const F32 d = F32::load(x + i + c * kLanes) - center;
      sum[c] = fma(d, d, sum[c]);
    }
  }
  for (; i < n; i += kLanes) {
    const int count = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    const F32 d = select(Mask::first(count), F32::load_partial(x + i, count) - center, F32::zero());
    sum[1] = fma(d, d, sum[1]);
  }
  return reduce_add((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

template <bool kShift>
CUVIL_INLINE void scale_row(const float* x, const float* scale, const float* shift, float* y, int64_t n, float mean,
                            float inverse_deviation) {
  constexpr int kLanes = simd::kLanes;
  const F32 center = F32::splat(mean), factor = F32::splat(inverse_deviation);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 normal = (F32::load(x + i) - center) * factor;
    (kShift ? fma(normal, F32::load(scale + i), F32::load(shift + i)) : normal * F32::load(scale + i)).store(y + i);
  }
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    const F32 normal = (F32::load_partial(x + i, rest) - center) * factor;
    const F32 scaled = normal * F32::load_partial(scale + i, rest);
    (kShift ? scaled + F32::load_partial(shift + i, rest) : scaled).store_partial(y + i, rest);
  }
}

template <class T>
struct RowStatistics {
  Value<T> mean, inverse_deviation;
};

template <class T, Config kConfig>
CUVIL_INLINE RowStatistics<T> normalize_row(const T* x, const T* scale, const T* shift, T* y, int64_t n) {
  if constexpr (std::is_same_v<T, float>) {
    const float count = static_cast<float>(n);
    const float mean = reduce_add(reduce::add_row<reduce::Sum>(F32::zero(), x, n)) / count;
    const float variance = squared_distance(x, n, mean) / count;
    const float inverse = 1.0f / __builtin_sqrtf(variance + static_cast<float>(kConfig.epsilon));
    scale_row<kConfig.has_shift>(x, scale, shift, y, n, mean, inverse);
    return {mean, inverse};
  } else {
    using V = Value<T>;
    V sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += load(x[i]);
    const V mean = sum / static_cast<V>(n);
    for (int64_t i = 0; i < n; ++i) squares += (load(x[i]) - mean) * (load(x[i]) - mean);
    const V inverse = V{1} / math::sqrt(squares / static_cast<V>(n) + static_cast<V>(kConfig.epsilon));
    for (int64_t i = 0; i < n; ++i) {
      const V scaled = (load(x[i]) - mean) * inverse * load(scale[i]);
      y[i] = store<T>(kConfig.has_shift ? scaled + load(shift[i]) : scaled);
    }
    return {mean, inverse};
  }
}

template <class T, class Statistic, Config kConfig>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const int64_t rows = extents[0], n = extents[1], rows_of_item = extents[2];
  constexpr int kOutput = kConfig.has_shift ? 3 : 2;
  const T* x = static_cast<const T*>(operands[0]);
  const T* scale = static_cast<const T*>(operands[1]);
  const T* shift = static_cast<const T*>(operands[kConfig.has_shift ? 2 : 1]);
  T* y = static_cast<T*>(operands[kOutput]);
  const int64_t last = end * rows_of_item < rows ? end * rows_of_item : rows;
  for (int64_t row = begin * rows_of_item; row < last; ++row) {
    const T* row_scale = scale + row % extents[3] * n;
    const T* row_shift = shift + row % extents[4] * n;
    const auto found = normalize_row<T, kConfig>(x + row * n, row_scale, row_shift, y + row * n, n);
    if constexpr (kConfig.statistics > 0) {
      static_cast<Statistic*>(operands[kOutput + 1])[row] = store<Statistic>(static_cast<Value<Statistic>>(found.mean));
    }
    if constexpr (kConfig.statistics > 1) {
      static_cast<Statistic*>(operands[kOutput + 2])[row] =
          store<Statistic>(static_cast<Value<Statistic>>(found.inverse_deviation));
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::normalize

#endif  // CUVIL_KERNELS_NORMALIZE_LAYER_NORM_H
