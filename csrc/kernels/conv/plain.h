// Convolution and transposed convolution of channels-last images where there is no vector kernel: over three spatial
// axes, and of f64, f16 and bf16 (the last two summed as f32). f32 may have an epilogue.
//
//   conv:       out[n, o, m] = bias[m] + sum over k, c of in[n, o * stride - pad + k * dilation, c] * w[m, c, k]
//   transposed: out[n, i * stride + k * dilation - pad, m] += in[n, i, c] * w[c, m, k], plus bias[m]
//
// in each group; positions outside the image count as zeros. Weights are not packed: [M, C / group, k...] or,
// transposed, [C, M / group, k...].
//
// Operands: in, weights, bias (any pointer if kHasBias is false), out, then those of the epilogue (kernels/epilogue.h).
// Extents: the fields of PlainProblem, then those of the epilogue. Fewer than
// three spatial axes are the last ones; those before have extent 1, kernel 1, stride 1, dilation 1, pad 0.
// Work items: ceil(images * output pixels / block_pixels). No scratch.
#ifndef CUVIL_KERNELS_CONV_PLAIN_H
#define CUVIL_KERNELS_CONV_PLAIN_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "kernels/epilogue.h"

namespace cuvil::kernels::conv {

inline constexpr int kAxes = 3;

struct PlainProblem {
  int64_t images, groups, in_channels, out_channels;  // channels of one group
  int64_t in_extents[kAxes], out_extents[kAxes], kernel[kAxes], strides[kAxes], dilations[kAxes], pads[kAxes];
  int64_t block_pixels;
};

// The input position that kernel position k reads for output position o along an axis, or -1.
template <bool kTransposed>
CUVIL_INLINE int64_t source(const PlainProblem& p, int axis, int64_t o, int64_t k) {
  const int64_t offset = k * p.dilations[axis];
  int64_t i = o * p.strides[axis] - p.pads[axis] + offset;
  if constexpr (kTransposed) {
    const int64_t scaled = o + p.pads[axis] - offset;
    if (scaled < 0 || scaled % p.strides[axis] != 0) return -1;
    i = scaled / p.strides[axis];
  }
  return i < 0 || i >= p.in_extents[axis] ? -1 : i;
}

// All channels of one output pixel of one group, some filters at a time.
template <class T, bool kTransposed, bool kHasBias, class Epilogue>
void plain_pixel(const PlainProblem& p, const T* image, const T* weights, const T* bias, T* out,
                 const int64_t (&position)[kAxes], int64_t group, const EpilogueCursor<Epilogue>& cursor) {
  constexpr int kFilters = 16;
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2], pixel_stride = p.groups * p.in_channels;
  const int64_t filter_stride = kTransposed ? taps : p.in_channels * taps;
  const int64_t channel_stride = kTransposed ? p.out_channels * taps : taps;
  weights += group * p.in_channels * p.out_channels * taps;
  for (int64_t first = 0; first < p.out_channels; first += kFilters) {
    const int count = p.out_channels - first < kFilters ? static_cast<int>(p.out_channels - first) : kFilters;
    Value<T> sum[kFilters] = {};
    if constexpr (kHasBias) {
      for (int f = 0; f < count; ++f) sum[f] = load(bias[group * p.out_channels + first + f]);
    }
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t d = source<kTransposed>(p, 0, position[0], tap / (p.kernel[1] * p.kernel[2]));
      const int64_t h = source<kTransposed>(p, 1, position[1], tap / p.kernel[2] % p.kernel[1]);
      const int64_t w = source<kTransposed>(p, 2, position[2], tap % p.kernel[2]);
      if (d < 0 || h < 0 || w < 0) continue;
      const T* pixel = image + ((d * p.in_extents[1] + h) * p.in_extents[2] + w) * pixel_stride + group * p.in_channels;
      for (int64_t c = 0; c < p.in_channels; ++c) {
        const Value<T> x = load(pixel[c]);
        const T* filter = weights + first * filter_stride + c * channel_stride + tap;
        for (int f = 0; f < count; ++f) sum[f] += x * load(filter[f * filter_stride]);
      }
    }
    for (int f = 0; f < count; ++f) {
      const int64_t channel = group * p.out_channels + first + f;
      if constexpr (std::is_same_v<T, float>) sum[f] = cursor.apply_one(sum[f], channel);
      out[channel] = store<T>(sum[f]);
    }
  }
}

template <class T, bool kTransposed, bool kHasBias, class Epilogue>
cuvil_status run_plain(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const PlainProblem& p = *reinterpret_cast<const PlainProblem*>(extents);
  const EpilogueOperands<Epilogue> epilogue(operands + 4, extents + sizeof(PlainProblem) / sizeof(int64_t));
  const T* in = static_cast<const T*>(operands[0]);
  const int64_t plane = p.out_extents[0] * p.out_extents[1] * p.out_extents[2], pixels = p.images * plane;
  const int64_t image_elements = p.in_extents[0] * p.in_extents[1] * p.in_extents[2] * p.groups * p.in_channels;
  const int64_t last = end * p.block_pixels < pixels ? end * p.block_pixels : pixels;
  for (int64_t i = begin * p.block_pixels; i < last; ++i) {
    const int64_t place = i % plane;
    const int64_t position[kAxes] = {place / (p.out_extents[1] * p.out_extents[2]),
                                     place / p.out_extents[2] % p.out_extents[1], place % p.out_extents[2]};
    const EpilogueCursor<Epilogue> cursor(epilogue, i);
    for (int64_t group = 0; group < p.groups; ++group) {
      plain_pixel<T, kTransposed, kHasBias, Epilogue>(
          p, in + i / plane * image_elements, static_cast<const T*>(operands[1]), static_cast<const T*>(operands[2]),
          static_cast<T*>(operands[3]) + i * p.groups * p.out_channels, position, group, cursor);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::conv

#endif  // CUVIL_KERNELS_CONV_PLAIN_H
