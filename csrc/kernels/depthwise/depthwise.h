// Depthwise convolution of channels-last images, f32: every channel has a kernel of its own.
//
//   out[n, oh, ow, c] = epilogue(bias[c] + sum over kh, kw of
//       in[n, oh * stride_h - pad_top + kh * dilation_h, ow * stride_w - pad_left + kw * dilation_w, c]
//       * weights[kh, kw, c])          pixels outside the image count as zeros
//
// Vectors lie along the channels. A tile is kPixels neighbouring outputs of a row: each input that it spans is loaded
// once for all of them. At the sides of the image, the inputs that do not exist are a row of zeros.
//
// Operands: in, weights, bias, out, then those of the epilogue (kernels/epilogue.h).
//   in, out   pixels of `channels` numbers, in_stride and out_stride elements apart
//   weights   [kernel_h][kernel_w][round_up(channels, lanes)]; bias: round_up(channels, lanes), zeros if there is none
// Extents: the fields of Problem in order, then those of the epilogue.
// Work items: ceil(channels / block_channels) * ceil(images * out_height / block_rows), the row blocks running fastest.
// Blocks of channels that let kernel_h input rows stay in the first cache make each input come from further away once.
// Scratch: round_up(min(block_channels, channels), lanes) numbers (the zeros).
#ifndef CUVIL_KERNELS_DEPTHWISE_DEPTHWISE_H
#define CUVIL_KERNELS_DEPTHWISE_DEPTHWISE_H

#include "abi/cuvil_abi.h"
#include "kernels/epilogue.h"

namespace cuvil::kernels::depthwise {

using simd::F32;
using simd::kLanes;

// What decides the inner loops: the kernel, step and dilation along a row, and the outputs of a tile.
template <int kKernelH_, int kKernelW_, int kStrideW_, int kDilationW_, int kPixels_>
struct Shape {
  static constexpr int kKernelH = kKernelH_;
  static constexpr int kKernelW = kKernelW_;
  static constexpr int kStrideW = kStrideW_;
  static constexpr int kDilationW = kDilationW_;
  static constexpr int kPixels = kPixels_;
  static constexpr int kInputs = (kPixels_ - 1) * kStrideW_ + (kKernelW_ - 1) * kDilationW_ + 1;
  // Straight-line code for all kernel rows lets loads run ahead; beyond some size it would not fit the first cache.
  static constexpr bool kUnrollRows = kKernelH_ * kKernelW_ * kPixels_ <= 256;

  // The kernel column that multiplies `input` for output q, or -1.
  static constexpr int tap(int input, int q) {
    const int offset = input - q * kStrideW;
    return offset >= 0 && offset % kDilationW == 0 && offset / kDilationW < kKernelW ? offset / kDilationW : -1;
  }
  // With a stride or a dilation, some of the inputs that a tile spans belong to no output.
  static constexpr bool used(int input) {
    for (int q = 0; q < kPixels; ++q)
      if (tap(input, q) >= 0) return true;
    return false;
  }
};

struct Problem {
  int64_t images, in_height, in_width, in_stride;
  int64_t out_height, out_width, out_stride;
  int64_t channels, stride_h, dilation_h, pad_top, pad_left;
  int64_t block_rows, block_channels;  // the schedule: output rows and channels of one work item
};
inline constexpr int kProblemExtents = sizeof(Problem) / sizeof(int64_t);

// The inputs of a tile that lies inside the image.
struct Inside {
  const float* first;
  int64_t pixel_stride;
  int64_t row_stride;
  CUVIL_INLINE const float* at(int row, int input) const { return first + row * row_stride + input * pixel_stride; }
};

// The inputs of a tile at a side: a pointer for each, to zeros where there is none.
template <class S>
struct AtSide {
  const float* pixel[S::kKernelH][S::kInputs];
  CUVIL_INLINE const float* at(int row, int input) const { return pixel[row][input]; }
};

// What all tiles of a work item share. Pointers are to the item's first channel.
template <class Epilogue>
struct Item {
  const Problem& p;
  const EpilogueOperands<Epilogue>& operands;
  const float* weights;
  const float* bias;
  const float* zeros;
  int64_t weight_stride;
  int64_t first_channel;
  int64_t channels;
};

template <bool kPartial, class Epilogue>
CUVIL_INLINE void store_pixel(const EpilogueCursor<Epilogue>& cursor, F32 x, float* out, int64_t column, int lanes) {
  if constexpr (kPartial) {
    cursor.apply_partial(x, column, lanes).store_partial(out, lanes);
  } else {
    cursor.apply(x, column).store(out);
  }
}

// One kernel row; `weights` and `channel` are those of the vector.
template <class S, bool kPartial, class Inputs>
CUVIL_INLINE void kernel_row(F32 (&acc)[S::kPixels], const Inputs& inputs, int row, const float* weights,
                             int64_t weight_stride, int64_t channel, int lanes) {
  F32 w[S::kKernelW];
#pragma GCC unroll 16
  for (int j = 0; j < S::kKernelW; ++j) w[j] = F32::load(weights + (row * S::kKernelW + j) * weight_stride);
#pragma GCC unroll 128
  for (int i = 0; i < S::kInputs; ++i) {
    if (!S::used(i)) continue;
    const float* at = inputs.at(row, i) + channel;
    const F32 x = kPartial ? F32::load_partial(at, lanes) : F32::load(at);
#pragma GCC unroll 16
    for (int q = 0; q < S::kPixels; ++q)
      if (S::tap(i, q) >= 0) acc[q] = fma(x, w[S::tap(i, q)], acc[q]);
  }
}

// `count` of a tile's outputs, for one vector of channels.
template <class S, bool kPartial, class Epilogue, class Inputs>
CUVIL_INLINE void tile_vector(const Inputs& inputs, const float* weights, int64_t weight_stride, F32 start, float* out,
                              int64_t out_stride, int count, const EpilogueCursor<Epilogue> (&cursors)[S::kPixels],
                              int64_t channel, int64_t column, int lanes) {
  F32 acc[S::kPixels];
#pragma GCC unroll 16
  for (int q = 0; q < S::kPixels; ++q) acc[q] = start;
  if constexpr (S::kUnrollRows) {
#pragma GCC unroll 16
    for (int row = 0; row < S::kKernelH; ++row)
      kernel_row<S, kPartial>(acc, inputs, row, weights, weight_stride, channel, lanes);
  } else {
#pragma GCC unroll 1
    for (int row = 0; row < S::kKernelH; ++row)
      kernel_row<S, kPartial>(acc, inputs, row, weights, weight_stride, channel, lanes);
  }
  if (Epilogue::kLong || count < S::kPixels) {
    float buffer[S::kPixels * kLanes];
#pragma GCC unroll 16
    for (int q = 0; q < S::kPixels; ++q) acc[q].store(buffer + q * kLanes);
#pragma GCC unroll 1
    for (int q = 0; q < count; ++q)
      store_pixel<kPartial>(cursors[q], F32::load(buffer + q * kLanes), out + q * out_stride, column, lanes);
    return;
  }
#pragma GCC unroll 16
  for (int q = 0; q < S::kPixels; ++q) store_pixel<kPartial>(cursors[q], acc[q], out + q * out_stride, column, lanes);
}

template <class S, class Epilogue, class Inputs>
__attribute__((noinline)) void tile(const Item<Epilogue>& item, const Inputs& inputs, float* out, int count,
                                    int64_t first_row) {
  EpilogueCursor<Epilogue> cursors[S::kPixels];
  for (int q = 0; q < S::kPixels; ++q) cursors[q].start(item.operands, first_row + (q < count ? q : count - 1));
  // Copies: the compiler cannot know that stores to `out` change none of these.
  const Inputs in = inputs;
  const float *weights = item.weights, *bias = item.bias;
  const int64_t weight_stride = item.weight_stride, out_stride = item.p.out_stride, first = item.first_channel;
  const int64_t channels = item.channels, whole = channels - channels % kLanes;
  for (int64_t c = 0; c < whole; c += kLanes) {
    tile_vector<S, false>(in, weights + c, weight_stride, F32::load(bias + c), out + c, out_stride, count, cursors, c,
                          first + c, kLanes);
  }
  if (whole < channels) {
    tile_vector<S, true>(in, weights + whole, weight_stride, F32::load(bias + whole), out + whole, out_stride, count,
                         cursors, whole, first + whole, static_cast<int>(channels - whole));
  }
}

// One output row of an image.
template <class S, class Epilogue>
void output_row(const Item<Epilogue>& item, const float* image, float* out, int64_t oh, int64_t first_row) {
  const Problem& p = item.p;
  const int64_t ih = oh * p.stride_h - p.pad_top, line = p.in_width * p.in_stride;
  const bool all_rows = ih >= 0 && ih + (S::kKernelH - 1) * p.dilation_h < p.in_height;
  for (int64_t ow = 0; ow < p.out_width; ow += S::kPixels) {
    const int count = static_cast<int>(p.out_width - ow < S::kPixels ? p.out_width - ow : S::kPixels);
    const int64_t iw = ow * S::kStrideW - p.pad_left;
    float* to = out + ow * p.out_stride;
    if (all_rows && iw >= 0 && iw + S::kInputs <= p.in_width) {
      const Inside inside{image + ih * line + iw * p.in_stride, p.in_stride, p.dilation_h * line};
      tile<S>(item, inside, to, count, first_row + ow);
      continue;
    }
    AtSide<S> side;
    for (int row = 0; row < S::kKernelH; ++row) {
      const int64_t y = ih + row * p.dilation_h;
      const bool no_row = y < 0 || y >= p.in_height;
      for (int i = 0; i < S::kInputs; ++i) {
        const bool outside = no_row || iw + i < 0 || iw + i >= p.in_width;
        side.pixel[row][i] = outside ? item.zeros : image + y * line + (iw + i) * p.in_stride;
      }
    }
    tile<S>(item, side, to, count, first_row + ow);
  }
}

// The kernel: S is a Shape.
template <class S, class Epilogue>
cuvil_status run(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin, uint32_t end) {
  const Problem& p = *reinterpret_cast<const Problem*>(extents);
  const EpilogueOperands<Epilogue> epilogue(operands + 4, extents + kProblemExtents);
  const float* in = static_cast<const float*>(operands[0]);
  float* out = static_cast<float*>(operands[3]);
  const int64_t rows = p.images * p.out_height;
  const int64_t row_blocks = (rows + p.block_rows - 1) / p.block_rows;
  const int64_t widest = p.block_channels < p.channels ? p.block_channels : p.channels;
  const int64_t weight_stride = (p.channels + kLanes - 1) / kLanes * kLanes;
  __builtin_memset(scratch, 0, static_cast<size_t>((widest + kLanes - 1) / kLanes * kLanes) * 4);

  for (uint32_t i = begin; i < end; ++i) {
    const int64_t block = i % row_blocks, channel = i / row_blocks * p.block_channels;
    const Item<Epilogue> item{p,
                              epilogue,
                              static_cast<const float*>(operands[1]) + channel,
                              static_cast<const float*>(operands[2]) + channel,
                              static_cast<const float*>(scratch),
                              weight_stride,
                              channel,
                              p.channels - channel < p.block_channels ? p.channels - channel : p.block_channels};
    const int64_t last = (block + 1) * p.block_rows < rows ? (block + 1) * p.block_rows : rows;
    for (int64_t row = block * p.block_rows; row < last; ++row) {
      const int64_t image = row / p.out_height, pixel = row * p.out_width;
      output_row<S>(item, in + image * p.in_height * p.in_width * p.in_stride + channel,
                    out + pixel * p.out_stride + channel, row % p.out_height, pixel);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::depthwise

#endif  // CUVIL_KERNELS_DEPTHWISE_DEPTHWISE_H
