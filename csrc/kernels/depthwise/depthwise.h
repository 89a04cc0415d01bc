// Depthwise convolution of channels-last images, f32: every channel has a kernel of its own.
//
//   out[n, oh, ow, c] = epilogue(bias[c] + sum over kh, kw of
//       in[n, oh * stride_h - pad_top + kh * dilation_h, ow * stride_w - pad_left + kw * dilation_w, c]
//       * weights[kh, kw, c])          pixels outside the image count as zeros
//
// Vectors lie along the channels. A tile is kPixels neighbouring outputs of a row: a kernel row's inputs are loaded
// once and used for all of them. At the sides of the image, the inputs that do not exist are a row of zeros.
//
// Operands: in, weights, bias, out, then those of the epilogue (kernels/epilogue.h).
//   in, out   pixels of `channels` numbers, in_stride and out_stride elements apart
//   weights   [kernel_h][kernel_w][round_up(channels, lanes)]; bias: round_up(channels, lanes), zeros if there is none
// Extents: the fields of Problem in order, then those of the epilogue.
// Work items: ceil(channels / block_channels) * ceil(images * out_height / block_rows), the row blocks running fastest.
// Scratch: round_up(block_channels, lanes) numbers (the zeros).
#ifndef CUVIL_KERNELS_DEPTHWISE_DEPTHWISE_H
#define CUVIL_KERNELS_DEPTHWISE_DEPTHWISE_H

#include "abi/cuvil_abi.h"
#include "kernels/epilogue.h"

namespace cuvil::kernels::depthwise {

using simd::F32;
using simd::kLanes;

// What decides the inner loops: kernel width, step and dilation along a row, and the outputs of a tile.
template <int kKernelW_, int kStrideW_, int kDilationW_, int kPixels_>
struct Shape {
  static constexpr int kKernelW = kKernelW_;
  static constexpr int kStrideW = kStrideW_;
  static constexpr int kDilationW = kDilationW_;
  static constexpr int kPixels = kPixels_;
  static constexpr int kInputs = (kPixels_ - 1) * kStrideW_ + (kKernelW_ - 1) * kDilationW_ + 1;
  // With a stride or dilation, some of the inputs that a tile spans belong to no output.
  static constexpr bool used(int input) {
    for (int q = 0; q < kPixels; ++q) {
      const int tap = input - q * kStrideW;
      if (tap >= 0 && tap % kDilationW == 0 && tap / kDilationW < kKernelW) return true;
    }
    return false;
  }
};

struct Problem {
  int64_t images, in_height, in_width, in_stride;
  int64_t out_height, out_width, out_stride;
  int64_t channels, kernel_h, stride_h, dilation_h, pad_top, pad_left;
  int64_t block_rows, block_channels;  // the schedule: output rows and channels of one work item
};
inline constexpr int kProblemExtents = sizeof(Problem) / sizeof(int64_t);

// Inputs of a tile inside the image: pixels in a line.
struct Line {
  const float* first;
  int64_t pixel_stride;
  int64_t row_stride;
  CUVIL_INLINE const float* at(int input) const { return first + input * pixel_stride; }
  CUVIL_INLINE void next_row() { first += row_stride; }
};

// Inputs of a tile at a side of the image: a pointer for each, of which those that do not exist point to zeros and
// stay.
template <int kInputs>
struct Scattered {
  const float* pixel[kInputs];
  int64_t row_step[kInputs];
  CUVIL_INLINE const float* at(int input) const { return pixel[input]; }
  CUVIL_INLINE void next_row() {
    for (int i = 0; i < kInputs; ++i) pixel[i] += row_step[i];
  }
};

CUVIL_INLINE F32 load(const float* p, int lanes, bool partial) {
  return partial ? F32::load_partial(p, lanes) : F32::load(p);
}

// One vector of channels, all outputs of a tile, all kernel rows that touch the image.
template <class S, bool kPartial, class Inputs>
CUVIL_INLINE void accumulate(F32 (&acc)[S::kPixels], Inputs inputs, int64_t kernel_rows, const float* weights,
                             int64_t weight_stride, int64_t channel, int lanes) {
  for (int64_t row = 0; row < kernel_rows; ++row, inputs.next_row()) {
    F32 w[S::kKernelW];
#pragma GCC unroll 16
    for (int j = 0; j < S::kKernelW; ++j) w[j] = F32::load(weights + channel + j * weight_stride);
    weights += S::kKernelW * weight_stride;
#pragma GCC unroll 64
    for (int i = 0; i < S::kInputs; ++i) {
      if (!S::used(i)) continue;
      const F32 x = load(inputs.at(i) + channel, lanes, kPartial);
#pragma GCC unroll 16
      for (int q = 0; q < S::kPixels; ++q) {
        const int tap = i - q * S::kStrideW;
        if (tap >= 0 && tap % S::kDilationW == 0 && tap / S::kDilationW < S::kKernelW)
          acc[q] = fma(x, w[tap / S::kDilationW], acc[q]);
      }
    }
  }
}

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
CUVIL_INLINE void store_pixel(const Item<Epilogue>& item, F32 x, float* out, const EpilogueCursor<Epilogue>& cursor,
                              int64_t channel, int lanes) {
  const int64_t column = item.first_channel + channel;
  if (kPartial) {
    cursor.apply_partial(x, column, lanes).store_partial(out + channel, lanes);
  } else {
    cursor.apply(x, column).store(out + channel);
  }
}

// Outputs [ow, ow + count) of a row; `inputs` belongs to the kernel row that `weights` begins with.
template <class S, class Epilogue, bool kPartial, class Inputs>
CUVIL_INLINE void tile_vector(const Item<Epilogue>& item, const Inputs& inputs, int64_t kernel_rows,
                              const float* weights, float* out, int count,
                              const EpilogueCursor<Epilogue> (&cursors)[S::kPixels], int64_t channel, int lanes) {
  F32 acc[S::kPixels];
  const F32 start = F32::load(item.bias + channel);
#pragma GCC unroll 16
  for (int q = 0; q < S::kPixels; ++q) acc[q] = start;
  accumulate<S, kPartial>(acc, inputs, kernel_rows, weights, item.weight_stride, channel, lanes);
  if constexpr (Epilogue::kLong) {
    float buffer[S::kPixels * kLanes];
#pragma GCC unroll 16
    for (int q = 0; q < S::kPixels; ++q) acc[q].store(buffer + q * kLanes);
#pragma GCC unroll 1
    for (int q = 0; q < count; ++q) {
      store_pixel<kPartial>(item, F32::load(buffer + q * kLanes), out + q * item.p.out_stride, cursors[q], channel,
                            lanes);
    }
  } else {
#pragma GCC unroll 16
    for (int q = 0; q < S::kPixels; ++q) {
      if (q >= count) return;
      store_pixel<kPartial>(item, acc[q], out + q * item.p.out_stride, cursors[q], channel, lanes);
    }
  }
}

template <class S, class Epilogue, class Inputs>
__attribute__((noinline)) void tile(const Item<Epilogue>& item, const Inputs& inputs, int64_t kernel_rows,
                                    const float* weights, float* out, int count, int64_t first_row) {
  EpilogueCursor<Epilogue> cursors[S::kPixels];
#pragma GCC unroll 16
  for (int q = 0; q < S::kPixels; ++q) cursors[q].start(item.operands, first_row + (q < count ? q : count - 1));
  int64_t channel = 0;
  for (; channel + kLanes <= item.channels; channel += kLanes)
    tile_vector<S, Epilogue, false>(item, inputs, kernel_rows, weights, out, count, cursors, channel, kLanes);
  if (channel < item.channels)
    tile_vector<S, Epilogue, true>(item, inputs, kernel_rows, weights, out, count, cursors, channel,
                                   static_cast<int>(item.channels - channel));
}

// One output row of an image.
template <class S, class Epilogue>
void output_row(const Item<Epilogue>& item, const float* image, float* out, int64_t oh, int64_t first_row) {
  const Problem& p = item.p;
  const int64_t ih = oh * p.stride_h - p.pad_top;
  int64_t first_kernel_row = 0, end_kernel_row = p.kernel_h;
  while (first_kernel_row < end_kernel_row && ih + first_kernel_row * p.dilation_h < 0) ++first_kernel_row;
  while (first_kernel_row < end_kernel_row && ih + (end_kernel_row - 1) * p.dilation_h >= p.in_height) --end_kernel_row;
  const int64_t kernel_rows = end_kernel_row - first_kernel_row;
  const float* weights = item.weights + first_kernel_row * S::kKernelW * item.weight_stride;
  const int64_t row_stride = p.dilation_h * p.in_width * p.in_stride;
  const float* row = image + (ih + first_kernel_row * p.dilation_h) * p.in_width * p.in_stride;

  for (int64_t ow = 0; ow < p.out_width; ow += S::kPixels) {
    const int count = static_cast<int>(p.out_width - ow < S::kPixels ? p.out_width - ow : S::kPixels);
    const int64_t iw = ow * S::kStrideW - p.pad_left;
    float* to = out + ow * p.out_stride;
    if (kernel_rows > 0 && iw >= 0 && iw + S::kInputs <= p.in_width) {
      const Line line{row + iw * p.in_stride, p.in_stride, row_stride};
      tile<S>(item, line, kernel_rows, weights, to, count, first_row + ow);
      continue;
    }
    Scattered<S::kInputs> scattered;
    for (int i = 0; i < S::kInputs; ++i) {
      const bool there = kernel_rows > 0 && iw + i >= 0 && iw + i < p.in_width;
      scattered.pixel[i] = there ? row + (iw + i) * p.in_stride : item.zeros;
      scattered.row_step[i] = there ? row_stride : 0;
    }
    tile<S>(item, scattered, kernel_rows, weights, to, count, first_row + ow);
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
  const int64_t weight_stride = (p.channels + kLanes - 1) / kLanes * kLanes;
  __builtin_memset(scratch, 0, static_cast<size_t>((p.block_channels + kLanes - 1) / kLanes * kLanes) * 4);

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
