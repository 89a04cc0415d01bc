// pool: the maximum or the mean of the data in a sliding window, over up to three spatial axes (fewer: extents of 1).
//
// operands: input, output.
// extents:  N, C; extents of the input's spatial axes (3), of the output's (3); pads before (3) and after (3) the
// input;
//           output rows of a work item; strides of the input and of the output in elements: N, the spatial axes, C.
// Work items are blocks of output rows: the points of N and the first two spatial axes of the output.
#ifndef CUVIL_KERNELS_POOL_POOL_H
#define CUVIL_KERNELS_POOL_POOL_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "kernels/reduce/reduce.h"
#include "simd/math.h"

namespace cuvil::kernels::pool {

enum class Mode { kMax, kAverage, kAverageWithPads };

struct Window {
  int kernel[3], strides[3], dilations[3];
  Mode mode;
};

struct Geometry {
  int64_t batch, channels;
  const int64_t *in, *out, *pads_before, *pads_after;  // 3 each
  int64_t rows_of_item;
  int64_t in_strides[3];  // of the spatial axes, in elements

  explicit CUVIL_INLINE Geometry(const int64_t* e)
      : batch(e[0]),
        channels(e[1]),
        in(e + 2),
        out(e + 5),
        pads_before(e + 8),
        pads_after(e + 11),
        rows_of_item(e[14]),
        in_strides{in[1] * in[2] * channels, in[2] * channels, channels} {}
};

// Positions [first, last) of the kernel on one axis that lie on data, and where the first one does; `counted` positions
// are on data or, with kAverageWithPads, on padding.
struct Taps {
  int first, last;
  int64_t offset;  // in elements
  int64_t counted;
};

template <Window kWindow>
CUVIL_INLINE Taps taps(const Geometry& g, int axis, int64_t index) {
  const int64_t dilation = kWindow.dilations[axis], kernel = kWindow.kernel[axis];
  const int64_t start = index * kWindow.strides[axis] - g.pads_before[axis];
  const auto below = [&](int64_t limit) {  // positions of the kernel whose index is below the limit
    const int64_t count = limit <= start ? 0 : (limit - start + dilation - 1) / dilation;
    return count < kernel ? count : kernel;
  };
  const int64_t first = below(0), last = below(g.in[axis]);
  const int64_t counted =
      kWindow.mode == Mode::kAverageWithPads ? below(g.in[axis] + g.pads_after[axis]) : last - first;
  return {static_cast<int>(first), static_cast<int>(last), (start + first * dilation) * g.in_strides[axis], counted};
}

// Calls f(offset) for the input offset of each position that lies on data.
template <Window kWindow, class Function>
CUVIL_INLINE void for_each_tap(const Geometry& g, const Taps (&t)[3], Function f) {
  int64_t plane = t[0].offset + t[1].offset + t[2].offset;
  for (int d = t[0].first; d < t[0].last; ++d, plane += kWindow.dilations[0] * g.in_strides[0]) {
    int64_t row = plane;
    for (int h = t[1].first; h < t[1].last; ++h, row += kWindow.dilations[1] * g.in_strides[1]) {
      int64_t offset = row;
      for (int w = t[2].first; w < t[2].last; ++w, offset += kWindow.dilations[2] * g.in_strides[2]) f(offset);
    }
  }
}

template <Window kWindow, int kVectors, bool kFull>
CUVIL_INLINE void pool_vectors(const float* x, float* y, const Geometry& g, const Taps (&t)[3], float count,
                               int lanes) {
  using V = simd::F32;
  constexpr bool kMax = kWindow.mode == Mode::kMax;
  V total[kVectors];
  for (V& v : total) v = V::splat(kMax ? -__builtin_inff() : 0.0f);
  for_each_tap<kWindow>(
      g, t, [&](int64_t offset) __attribute__((always_inline)) {
        for (int v = 0; v < kVectors; ++v) {
          const float* p = x + offset + v * V::kLanes;
          const V element = kFull ? V::load(p) : V::load_partial(p, lanes);
          total[v] = kMax ? max(total[v], element) : total[v] + element;
        }
      });
  const V divisor = V::splat(count);
  for (int v = 0; v < kVectors; ++v) {
    const V result = kMax ? total[v] : total[v] / divisor;
    if constexpr (kFull) {
      result.store(y + v * V::kLanes);
    } else {
      result.store_partial(y, lanes);
    }
  }
}

template <Window kWindow, class T>
CUVIL_INLINE void pool_channels(const T* x, T* y, const Geometry& g, const Taps (&t)[3]) {
  const int64_t count = t[0].counted * t[1].counted * t[2].counted;
  constexpr bool kMax = kWindow.mode == Mode::kMax;
  if constexpr (std::is_same_v<T, float>) {
    constexpr int64_t kLanes = simd::kLanes;
    const float divisor = static_cast<float>(count);
    int64_t c = 0;
    for (; c + 4 * kLanes <= g.channels; c += 4 * kLanes)
      pool_vectors<kWindow, 4, true>(x + c, y + c, g, t, divisor, 0);
    for (; c + kLanes <= g.channels; c += kLanes) pool_vectors<kWindow, 1, true>(x + c, y + c, g, t, divisor, 0);
    if (const int rest = static_cast<int>(g.channels - c); rest > 0) {
      pool_vectors<kWindow, 1, false>(x + c, y + c, g, t, divisor, rest);
    }
  } else {
    using V = Value<T>;
    constexpr int kBlock = 32;
    for (int64_t c = 0; c < g.channels; c += kBlock) {
      const int n = g.channels - c < kBlock ? static_cast<int>(g.channels - c) : kBlock;
      V total[kBlock];
      for (V& v : total) v = kMax ? reduce::lowest<V>() : V{0};
      for_each_tap<kWindow>(
          g, t, [&](int64_t offset) __attribute__((always_inline)) {
            for (int i = 0; i < n; ++i) {
              const V element = load(x[offset + c + i]);
              total[i] = kMax ? math::max(total[i], element) : math::add(total[i], element);
            }
          });
      for (int i = 0; i < n; ++i) {
        if constexpr (!kMax) total[i] = total[i] / static_cast<V>(count);
        y[c + i] = store<T>(total[i]);
      }
    }
  }
}

template <class T, Window kWindow>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const Geometry g(extents);
  const int64_t rows = g.batch * g.out[0] * g.out[1];
  const int64_t first = begin * g.rows_of_item;
  const int64_t last = end * g.rows_of_item < rows ? end * g.rows_of_item : rows;
  for (int64_t row = first; row < last; ++row) {
    const int64_t h = row % g.out[1], d = row / g.out[1] % g.out[0], n = row / g.out[1] / g.out[0];
    const T* x = static_cast<const T*>(operands[0]) + n * g.in[0] * g.in_strides[0];
    T* y = static_cast<T*>(operands[1]) + row * g.out[2] * g.channels;
    Taps t[3] = {taps<kWindow>(g, 0, d), taps<kWindow>(g, 1, h), {}};
    for (int64_t w = 0; w < g.out[2]; ++w) {
      t[2] = taps<kWindow>(g, 2, w);
      pool_channels<kWindow>(x, y + w * g.channels, g, t);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::pool

#endif  // CUVIL_KERNELS_POOL_POOL_H
