// layer_norm: each row of a dense [rows, n] tensor brought to mean 0 and variance 1, then scaled and shifted.
//
//   y = (x - mean) / sqrt(variance + epsilon) * scale + shift,  variance = mean((x - mean)^2)
//
// operands: x, scale [n], shift [n] if there is one, y (may be the same memory as x).
// extents:  rows, n, rows of a work item.
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

struct Distances {
  float sum, squares;
};

// Sums of the distances to `center` and of their squares.
CUVIL_INLINE Distances distances(const float* x, int64_t n, float center) {
  constexpr int kChains = 4, kLanes = simd::kLanes;
  const F32 middle = F32::splat(center);
  F32 sum[kChains], squares[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = squares[c] = F32::zero();
  int64_t i = 0;
  for (; i + kChains * kLanes <= n; i += kChains * kLanes) {
    for (int c = 0; c < kChains; ++c) {
      const F32 d = F32::load(x + i + c * kLanes) - middle;
      sum[c] = sum[c] + d;
      squares[c] = fma(d, d, squares[c]);
    }
  }
  for (; i < n; i += kLanes) {
    const int count = n - i < kLanes ? static_cast<int>(n - i) : kLanes;
    const F32 d = select(Mask::first(count), F32::load_partial(x + i, count) - middle, F32::zero());
    sum[1] = sum[1] + d;
    squares[1] = fma(d, d, squares[1]);
  }
  return {reduce_add((sum[0] + sum[1]) + (sum[2] + sum[3])),
          reduce_add((squares[0] + squares[1]) + (squares[2] + squares[3]))};
}

// y = ((x - center) * factor + offset) * scale + shift.
template <bool kShift>
CUVIL_INLINE void scale_row(const float* x, const float* scale, const float* shift, float* y, int64_t n, float center,
                            float factor, float offset) {
  constexpr int kLanes = simd::kLanes;
  const auto normal = [=](F32 v) { return fma(v - F32::splat(center), F32::splat(factor), F32::splat(offset)); };
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 v = normal(F32::load(x + i));
    (kShift ? fma(v, F32::load(scale + i), F32::load(shift + i)) : v * F32::load(scale + i)).store(y + i);
  }
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    const F32 v = normal(F32::load_partial(x + i, rest)) * F32::load_partial(scale + i, rest);
    (kShift ? v + F32::load_partial(shift + i, rest) : v).store_partial(y + i, rest);
  }
}

template <class T, bool kShift>
CUVIL_INLINE void normalize_row(const T* x, const T* scale, const T* shift, T* y, int64_t n, double epsilon) {
  if constexpr (std::is_same_v<T, float>) {
    const float count = static_cast<float>(n);
    const float mean = reduce_add(reduce::add_row<reduce::Sum>(F32::zero(), x, n)) / count;
    const Distances d = distances(x, n, mean);
    const float error = d.sum / count;  // what rounding has left out of the mean
    const float variance = d.squares / count - error * error;
    const float factor = 1.0f / __builtin_sqrtf(variance + static_cast<float>(epsilon));
    scale_row<kShift>(x, scale, shift, y, n, mean, factor, -error * factor);
  } else {
    using V = Value<T>;
    V sum = 0, squares = 0;
    for (int64_t i = 0; i < n; ++i) sum += load(x[i]);
    const V mean = sum / static_cast<V>(n);
    for (int64_t i = 0; i < n; ++i) squares += (load(x[i]) - mean) * (load(x[i]) - mean);
    const V inverse = V{1} / math::sqrt(squares / static_cast<V>(n) + static_cast<V>(epsilon));
    for (int64_t i = 0; i < n; ++i) {
      const V scaled = (load(x[i]) - mean) * inverse * load(scale[i]);
      y[i] = store<T>(kShift ? scaled + load(shift[i]) : scaled);
    }
  }
}

template <class T, bool kShift>
CUVIL_INLINE cuvil_status run(void* const* operands, const int64_t* extents, uint32_t begin, uint32_t end,
                              double epsilon) {
  const int64_t rows = extents[0], n = extents[1], rows_of_item = extents[2];
  const T* x = static_cast<const T*>(operands[0]);
  const T* scale = static_cast<const T*>(operands[1]);
  const T* shift = static_cast<const T*>(operands[kShift ? 2 : 1]);
  T* y = static_cast<T*>(operands[kShift ? 3 : 2]);
  const int64_t last = end * rows_of_item < rows ? end * rows_of_item : rows;
  for (int64_t row = begin * rows_of_item; row < last; ++row) {
    normalize_row<T, kShift>(x + row * n, scale, shift, y + row * n, n, epsilon);
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::normalize

#endif  // CUVIL_KERNELS_NORMALIZE_LAYER_NORM_H
