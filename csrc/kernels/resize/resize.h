// resize: a tensor resampled along some of its axes (ONNX Resize without antialiasing).
//
// The tensor is [axes..., inner]: R axes, the last of which is resampled, then contiguous elements that are copied
// along. operands: input, output. extents:  R extents of the output, R of the input, inner; output rows of a work item.
// Work items are blocks of rows (the points of the first R - 1 axes of the output).
// scratch: for each resampled axis, kTaps<mode> Taps for each of its output indices.
#ifndef CUVIL_KERNELS_RESIZE_RESIZE_H
#define CUVIL_KERNELS_RESIZE_RESIZE_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "simd/math.h"

namespace cuvil::kernels::resize {

enum class Mode { kNearest, kLinear, kCubic };
enum class Coordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize
};
enum class Rounding { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct Axis {
  bool resampled;
  double scale;  // 0: output extent / input extent
  double roi_start, roi_end;
};

template <int kAxes>
struct Config {
  Mode mode;
  Coordinates coordinates;
  Rounding rounding;
  double cubic_coefficient;
  bool exclude_outside;
  double extrapolation;
  Axis axes[kAxes];
};

struct Tap {
  int64_t offset;  // in elements of the input; negative in the first tap of an index that lies outside of it
  double weight;
};

constexpr int taps_of(Mode mode) { return mode == Mode::kNearest ? 1 : mode == Mode::kLinear ? 2 : 4; }

// --- positions and weights of one axis ---

template <auto kConfig>
CUVIL_INLINE double position(const Axis& axis, double i, double source, double target) {
  const double scale = axis.scale != 0 ? axis.scale : target / source;
  switch (kConfig.coordinates) {
    case Coordinates::kHalfPixel:
      return (i + 0.5) / scale - 0.5;
    case Coordinates::kHalfPixelSymmetric:
      return source / 2 * (1 - target / (scale * source)) + (i + 0.5) / scale - 0.5;
    case Coordinates::kPytorchHalfPixel:
      return target > 1 ? (i + 0.5) / scale - 0.5 : 0;
    case Coordinates::kAlignCorners:
      return target > 1 ? i * (source - 1) / (target - 1) : 0;
    case Coordinates::kAsymmetric:
      return i / scale;
    case Coordinates::kTfHalfPixelForNn:
      return (i + 0.5) / scale;
    case Coordinates::kTfCropAndResize:
      break;
  }
  const double last = source - 1;
  if (target <= 1) return 0.5 * (axis.roi_start + axis.roi_end) * last;
  return axis.roi_start * last + i * (axis.roi_end - axis.roi_start) * last / (target - 1);
}

template <Rounding kRounding>
CUVIL_INLINE double rounded(double x) {
  if constexpr (kRounding == Rounding::kRoundPreferFloor) return __builtin_ceil(x - 0.5);
  if constexpr (kRounding == Rounding::kRoundPreferCeil) return __builtin_floor(x + 0.5);
  if constexpr (kRounding == Rounding::kFloor) return __builtin_floor(x);
  return __builtin_ceil(x);
}

// Weight of an element at a distance: a triangle, or Keys' cubic convolution.
template <auto kConfig>
CUVIL_INLINE double kernel_weight(double distance) {
  const double x = __builtin_fabs(distance);
  if constexpr (kConfig.mode == Mode::kLinear) return x < 1 ? 1 - x : 0;
  constexpr double a = kConfig.cubic_coefficient;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

template <auto kConfig>
void fill_taps(const Axis& axis, int64_t source, int64_t target, int64_t stride, Tap* taps) {
  constexpr int kTaps = taps_of(kConfig.mode);
  const auto inside = [=](double index) { return index < 0 ? 0.0 : index > source - 1.0 ? source - 1.0 : index; };
  for (int64_t i = 0; i < target; ++i, taps += kTaps) {
    const double p =
        position<kConfig>(axis, static_cast<double>(i), static_cast<double>(source), static_cast<double>(target));
    if constexpr (kConfig.mode == Mode::kNearest) {
      taps[0] = {static_cast<int64_t>(inside(rounded<kConfig.rounding>(p))) * stride, 1.0};
    } else {
      const double first = __builtin_floor(p) - (kTaps / 2 - 1);
      double total = 0;
      for (int t = 0; t < kTaps; ++t) {
        const double index = first + t;
        const bool excluded = kConfig.exclude_outside && inside(index) != index;
        taps[t] = {static_cast<int64_t>(inside(index)) * stride, excluded ? 0.0 : kernel_weight<kConfig>(index - p)};
        total += taps[t].weight;
      }
      if constexpr (kConfig.exclude_outside) {
        for (int t = 0; t < kTaps; ++t) taps[t].weight /= total;
      }
    }
    if constexpr (kConfig.coordinates == Coordinates::kTfCropAndResize) {
      if (p < 0 || p > static_cast<double>(source - 1)) taps[0].offset = -1;
    }
  }
}

// --- rows ---

// Sums are made in double, except of floats of at most 32 bits: integers must round as the exact sum does.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, double, float>;

template <class T, class S>
CUVIL_INLINE T from_sum(S sum) {
  if constexpr (std::is_integral_v<T>) {
    constexpr double kLow = std::is_signed_v<T> ? -static_cast<double>(uint64_t{1} << (8 * sizeof(T) - 1)) : 0.0;
    constexpr double kHigh =
        std::is_signed_v<T> ? -kLow : 2.0 * static_cast<double>(uint64_t{1} << (8 * sizeof(T) - 1));
    const double whole = __builtin_rint(static_cast<double>(sum));
    if (whole <= kLow) return static_cast<T>(kLow);
    return whole >= kHigh ? static_cast<T>(~static_cast<uint64_t>(static_cast<T>(kLow))) : static_cast<T>(whole);
  } else {
    return store<T>(static_cast<Value<T>>(sum));
  }
}

// y[c] = the weighted sum of kCount source elements at x[offset[k] + c].
template <int kCount, class T>
CUVIL_INLINE void weighted_sum(const T* x, const int64_t (&offset)[kCount], const Sum<T> (&weight)[kCount], T* y,
                               int64_t inner) {
  int64_t c = 0;
  if constexpr (std::is_same_v<T, float>) {
    using V = simd::F32;
    V w[kCount];
    for (int k = 0; k < kCount; ++k) w[k] = V::splat(weight[k]);
    for (; c + V::kLanes <= inner; c += V::kLanes) {
      V sum = w[0] * V::load(x + offset[0] + c);
      for (int k = 1; k < kCount; ++k) sum = fma(w[k], V::load(x + offset[k] + c), sum);
      sum.store(y + c);
    }
    if (const int rest = static_cast<int>(inner - c); rest > 1) {
      V sum = w[0] * V::load_partial(x + offset[0] + c, rest);
      for (int k = 1; k < kCount; ++k) sum = fma(w[k], V::load_partial(x + offset[k] + c, rest), sum);
      sum.store_partial(y + c, rest);
      return;
    }
  }
  for (; c < inner; ++c) {
    Sum<T> sum = 0;
    for (int k = 0; k < kCount; ++k) {
      sum += weight[k] * static_cast<Sum<T>>(load(x[offset[k] + c]));
    }
    y[c] = from_sum<T>(sum);
  }
}

constexpr int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

template <auto kConfig, int kAxes>
constexpr int resampled_before_last() {
  int count = 0;
  for (int axis = 0; axis < kAxes - 1; ++axis) count += kConfig.axes[axis].resampled ? 1 : 0;
  return count;
}

// The source elements that the outer axes contribute to a row: every combination of their taps.
template <class T, auto kConfig, int kAxes>
struct RowTaps {
  static constexpr int kTaps = taps_of(kConfig.mode);
  static constexpr int kCount = power(kTaps, resampled_before_last<kConfig, kAxes>());
  int64_t offset[kCount] = {};
  Sum<T> weight[kCount];
  bool outside = false;

  CUVIL_INLINE RowTaps(int64_t row, const int64_t* target, const int64_t* strides, Tap* const* tables) {
    weight[0] = 1;
    int count = 1;
    for (int axis = kAxes - 2; axis >= 0; --axis) {
      const int64_t index = row % target[axis];
      row /= target[axis];
      if (!kConfig.axes[axis].resampled) {
        for (int k = 0; k < count; ++k) offset[k] += index * strides[axis];
        continue;
      }
      const Tap* taps = tables[axis] + index * kTaps;
      outside = outside || taps[0].offset < 0;
      for (int t = kTaps - 1; t >= 0; --t) {
        for (int k = 0; k < count; ++k) {
          offset[t * count + k] = offset[k] + taps[t].offset;
          weight[t * count + k] = weight[k] * static_cast<Sum<T>>(taps[t].weight);
        }
      }
      count *= kTaps;
    }
  }
};

template <class T, auto kConfig, int kAxes>
CUVIL_INLINE void resize_row(const T* x, T* y, const RowTaps<T, kConfig, kAxes>& row, const Tap* taps, int64_t target,
                             int64_t inner) {
  using Row = RowTaps<T, kConfig, kAxes>;
  constexpr int kCount = Row::kCount * Row::kTaps;
  for (int64_t i = 0; i < target; ++i, taps += Row::kTaps, y += inner) {
    if (row.outside || taps[0].offset < 0) {
      for (int64_t c = 0; c < inner; ++c) y[c] = from_sum<T>(static_cast<Sum<T>>(kConfig.extrapolation));
    } else if constexpr (kConfig.mode == Mode::kNearest) {
      __builtin_memcpy(y, x + row.offset[0] + taps[0].offset, static_cast<size_t>(inner) * sizeof(T));
    } else {
      int64_t offset[kCount];
      Sum<T> weight[kCount];
      for (int t = 0; t < Row::kTaps; ++t) {
        for (int k = 0; k < Row::kCount; ++k) {
          offset[t * Row::kCount + k] = row.offset[k] + taps[t].offset;
          weight[t * Row::kCount + k] = row.weight[k] * static_cast<Sum<T>>(taps[t].weight);
        }
      }
      weighted_sum<kCount>(x, offset, weight, y, inner);
    }
  }
}

template <class T, int kAxes, Config<kAxes> kConfig>
cuvil_status run(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin, uint32_t end) {
  const int64_t* target = extents;
  const int64_t* source = extents + kAxes;
  const int64_t inner = extents[2 * kAxes], rows_of_item = extents[2 * kAxes + 1];
  Tap* tables[kAxes] = {};
  Tap* free = static_cast<Tap*>(scratch);
  int64_t strides[kAxes];
  for (int64_t axis = kAxes - 1, stride = inner; axis >= 0; stride *= source[axis--]) strides[axis] = stride;
  int64_t rows = 1;
  for (int axis = 0; axis < kAxes; ++axis) {
    if (axis < kAxes - 1) rows *= target[axis];
    if (!kConfig.axes[axis].resampled) continue;
    tables[axis] = free;
    free += target[axis] * taps_of(kConfig.mode);
    fill_taps<kConfig>(kConfig.axes[axis], source[axis], target[axis], strides[axis], tables[axis]);
  }
  const T* x = static_cast<const T*>(operands[0]);
  T* y = static_cast<T*>(operands[1]);
  const int64_t last = end * rows_of_item < rows ? end * rows_of_item : rows;
  for (int64_t row = begin * rows_of_item; row < last; ++row) {
    const RowTaps<T, kConfig, kAxes> row_taps(row, target, strides, tables);
    resize_row<T, kConfig, kAxes>(x, y + row * target[kAxes - 1] * inner, row_taps, tables[kAxes - 1],
                                  target[kAxes - 1], inner);
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::resize

#endif  // CUVIL_KERNELS_RESIZE_RESIZE_H
