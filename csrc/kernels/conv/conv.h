// Convolution of channels-last images, f32, as an implicit matrix product: output pixels are rows, output channels are
// columns, and each row of A is the pixel's window, read in place through pointers (kernels/matmul/tile.h).
//
//   out[n, oh, ow, g * Co + co] = epilogue(bias[g * Co + co] + sum over kh, kw, ci of
//       in[n, oh * stride_h - pad_top + kh * dilation_h, ow * stride_w - pad_left + kw * dilation_w, g * Ci + ci]
//       * weights[g, kh, kw, ci, co])          pixels outside the image count as zeros
//
// Operands: in, weights, bias (any pointer if T::kHasBias is false), out, then those of the epilogue
// (kernels/epilogue.h).
//   in       pixels of groups * Ci channels, in_stride elements apart (so it may be a part of wider pixels)
//   weights  packed [group][panel][kh][kw][ci][columns of the panel], see kernels/matmul/tile.h; or, if kPackedWeights
//   is
//            false, a tensor with the strides of Problem, packed into scratch a panel at a time
//   bias     groups * round_up(Co, lanes) numbers: each group padded to whole vectors
//   out      pixels of groups * Co channels, out_stride elements apart
//
// Extents: the fields of Problem in order, then those of the epilogue. All are run-time numbers, so that one compiled
// kernel serves every layer with the same epilogue.
//
// Work items: groups * ceil(panels / block_panels) * ceil(images * out_height * out_width / block_rows), the row blocks
// running fastest. Scratch: a panel of weights unless they are packed, then what Windows needs; the formula is in
// cuvil_edge/kernels/conv_call.py.
#ifndef CUVIL_KERNELS_CONV_CONV_H
#define CUVIL_KERNELS_CONV_CONV_H

#include "abi/cuvil_abi.h"
#include "kernels/matmul/tile.h"

namespace cuvil::kernels::conv {

// How the window of a pixel is read.
enum Access : int64_t {
  // One run of Ci numbers for each position of the kernel.
  kTaps = 0,
  // One run of kernel_w * Ci numbers for each kernel row; needs dilation_w = 1, groups = 1 and in_stride = Ci. Windows
  // that reach over the left or right side of the image are copied to scratch.
  kRuns = 1,
  // Pixels are copied to scratch first: for 1x1 kernels over pixels whose stride makes them collide in the cache's
  // sets.
  kCopy = 2
};

struct Problem {
  int64_t images, in_height, in_width, in_channels, in_stride;  // in_channels: of one group
  int64_t out_height, out_width, out_channels, out_stride;      // out_channels: of one group
  int64_t groups;
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int64_t access;                    // Access
  int64_t block_rows, block_panels;  // the schedule: pixels and panels of one work item
  // Where output pixel (oh, ow) is stored: at (oh * spread_h + first_h, ow * spread_w + first_w) of images of
  // image_height x image_width. A transposed convolution is one call for each phase; for a plain one spread_h is 0 and
  // the other fields are not read.
  int64_t spread_h, spread_w, first_h, first_w, image_height, image_width;
  // Elements between neighbours along the axes of weights that are not packed (may be negative).
  int64_t weight_group_stride, weight_row_stride, weight_column_stride, weight_channel_stride, weight_filter_stride;
};
inline constexpr int kProblemExtents = sizeof(Problem) / sizeof(int64_t);

template <class T>
class Windows {
 public:
  Windows(const Problem& p, const float* in, void* scratch) : p_(p), in_(in) {
    const bool runs = p.access == kRuns;
    taps_ = p.kernel_h * (runs ? 1 : p.kernel_w);
    run_ = p.in_channels * (runs ? p.kernel_w : 1);
    copy_stride_ = (run_ + 15) / 16 * 16 + 16;  // an odd number of cache lines mostly: copies do not collide
    const int64_t tiles = (p.block_rows + T::kRows - 1) / T::kRows;
    char* next = static_cast<char*>(scratch);
    rows_ = reinterpret_cast<const float**>(next);
    next += round_up(tiles * T::kRows * taps_ * static_cast<int64_t>(sizeof(float*)));
    zeros_ = reinterpret_cast<float*>(next);
    next += round_up(run_ * 4);
    row_index_ = reinterpret_cast<int64_t*>(next);
    if (p.spread_h != 0) next += round_up(p.block_rows * 8);
    copies_ = reinterpret_cast<float*>(next);
    __builtin_memset(zeros_, 0, static_cast<size_t>(run_) * 4);
  }

  // Prepares the pointers of output pixels [first, first + count), counted over all images, for one group.
  void prepare(int64_t group, int64_t first, int64_t count) {
    if (group == group_ && first == first_) return;
    group_ = group, first_ = first;
    const float* base = in_ + group * p_.in_channels;
    const int64_t plane = p_.out_height * p_.out_width;
    int64_t image = first / plane;
    int64_t oh = first % plane / p_.out_width;
    int64_t ow = first % p_.out_width;
    next_copy_ = copies_;
    for (int64_t r = 0; r < count; ow = 0) {
      const int64_t rest = p_.out_width - ow, n = rest < count - r ? rest : count - r;
      const float* pixels = base + image * p_.in_height * p_.in_width * p_.in_stride;
      const int64_t ih = oh * p_.stride_h - p_.pad_top, iw = ow * p_.stride_w - p_.pad_left;
      if (p_.access == kTaps) place_taps(r, n, pixels, ih, iw);
      if (p_.access == kRuns) place_runs(r, n, pixels, ih, iw);
      if (p_.access == kCopy) place_copies(r, n, pixels, ih, iw);
      if (p_.spread_h != 0) {
        const int64_t row = (image * p_.image_height + oh * p_.spread_h + p_.first_h) * p_.image_width + p_.first_w;
        for (int64_t q = 0; q < n; ++q) row_index_[r + q] = row + (ow + q) * p_.spread_w;
      }
      r += n;
      if (++oh == p_.out_height) oh = 0, ++image;
    }
    fill_last_tile(count);
  }

  const float* const* rows() const { return rows_; }
  const int64_t* row_index() const { return p_.spread_h != 0 ? row_index_ : nullptr; }
  int64_t taps() const { return taps_; }
  int64_t run() const { return run_; }

 private:
  static int64_t round_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }
  static bool outside(int64_t i, int64_t extent) { return static_cast<uint64_t>(i) >= static_cast<uint64_t>(extent); }

  static int64_t clamp(int64_t x, int64_t high) { return x < 0 ? 0 : x < high ? x : high; }
  // The first q with x + q * stride_w >= limit.
  int64_t steps_to(int64_t x, int64_t limit) const {
    const int64_t distance = limit - x;
    return distance <= 0 ? 0 : p_.stride_w == 1 ? distance : (distance + p_.stride_w - 1) / p_.stride_w;
  }

  // Pointer `tap` of rows [r, r + n): p, p + step, p + 2 * step, ...
  CUVIL_INLINE void fill(int64_t tap, int64_t r, int64_t n, const float* p, int64_t step) {
    const float** at = rows_ + (r / T::kRows * taps_ + tap) * T::kRows;
    for (int64_t lane = r % T::kRows; n > 0; lane = 0, at += taps_ * T::kRows) {
      const int64_t end = lane + n < T::kRows ? lane + n : T::kRows;
      n -= end - lane;
      for (; lane < end; ++lane, p += step) at[lane] = p;
    }
  }

  // n neighbouring outputs whose windows begin at (ih, iw), (ih, iw + stride_w), ...
  void place_taps(int64_t r, int64_t n, const float* pixels, int64_t ih, int64_t iw) {
    const int64_t step = p_.stride_w * p_.in_stride;
    for (int64_t j = 0; j < p_.kernel_w; ++j, iw += p_.dilation_w) {
      const int64_t begin = clamp(steps_to(iw, 0), n), end = clamp(steps_to(iw, p_.in_width), n);
      for (int64_t i = 0; i < p_.kernel_h; ++i) {
        const int64_t y = ih + i * p_.dilation_h, tap = i * p_.kernel_w + j;
        if (outside(y, p_.in_height) || begin >= end) {
          fill(tap, r, n, zeros_, 0);
          continue;
        }
        fill(tap, r, begin, zeros_, 0);
        fill(tap, r + begin, end - begin, pixels + (y * p_.in_width + iw + begin * p_.stride_w) * p_.in_stride, step);
        fill(tap, r + end, n - end, zeros_, 0);
      }
    }
  }

  void place_runs(int64_t r, int64_t n, const float* pixels, int64_t ih, int64_t iw) {
    const int64_t begin = clamp(steps_to(iw, 0), n), end = clamp(steps_to(iw + p_.kernel_w - 1, p_.in_width), n);
    for (int64_t i = 0; i < p_.kernel_h; ++i, ih += p_.dilation_h) {
      if (outside(ih, p_.in_height)) {
        fill(i, r, n, zeros_, 0);
        continue;
      }
      const float* row = pixels + ih * p_.in_width * p_.in_channels;
      for (int64_t q = 0; q < n; ++q) {
        if (q == begin && begin < end) {
          fill(i, r + begin, end - begin, row + (iw + begin * p_.stride_w) * p_.in_channels,
               p_.stride_w * p_.in_channels);
          q = end - 1;
          continue;
        }
        fill(i, r + q, 1, copy_run(row, iw + q * p_.stride_w), 0);
      }
    }
  }

  // A run that reaches over a side of the image: what is there, and zeros.
  const float* copy_run(const float* row, int64_t iw) {
    const int64_t from = (iw < 0 ? -iw : 0) * p_.in_channels;
    const int64_t to = (p_.in_width - iw < p_.kernel_w ? p_.in_width - iw : p_.kernel_w) * p_.in_channels;
    if (from >= to) return zeros_;
    float* copy = next_copy_;
    next_copy_ += copy_stride_;
    __builtin_memset(copy, 0, static_cast<size_t>(from) * 4);
    __builtin_memcpy(copy + from, row + iw * p_.in_channels + from, static_cast<size_t>(to - from) * 4);
    __builtin_memset(copy + to, 0, static_cast<size_t>(run_ - to) * 4);
    return copy;
  }

  void place_copies(int64_t r, int64_t n, const float* pixels, int64_t ih, int64_t iw) {
    for (int64_t q = 0; q < n; ++q, iw += p_.stride_w) {
      if (outside(ih, p_.in_height) || outside(iw, p_.in_width)) {
        fill(0, r + q, 1, zeros_, 0);
        continue;
      }
      const float* from = pixels + (ih * p_.in_width + iw) * p_.in_stride;
      __builtin_memcpy(next_copy_, from, static_cast<size_t>(run_) * 4);
      fill(0, r + q, 1, next_copy_, 0);
      next_copy_ += copy_stride_;
    }
  }

  // Rows beyond the last are computed and thrown away: they repeat the last one.
  void fill_last_tile(int64_t count) {
    const int64_t filled = count % T::kRows;
    if (filled == 0) return;
    const float** at = rows_ + count / T::kRows * T::kRows * taps_;
    for (int64_t t = 0; t < taps_; ++t, at += T::kRows)
      for (int64_t r = filled; r < T::kRows; ++r) at[r] = at[filled - 1];
  }

  const Problem& p_;
  const float* in_;
  int64_t group_ = -1, first_ = -1;  // what the pointers are prepared for
  int64_t taps_, run_, copy_stride_;
  const float** rows_;
  float* zeros_;
  float* copies_;
  float* next_copy_;
  int64_t* row_index_;
};

// Filters [filter, filter + n) of a group as a packed panel of `vectors` vectors.
inline void pack_panel(const Problem& p, const float* weights, int64_t filter, int64_t n, int64_t vectors, float* to) {
  using simd::F32, simd::kLanes;
  weights += filter * p.weight_filter_stride;
  for (int64_t i = 0; i < p.kernel_h; ++i) {
    for (int64_t j = 0; j < p.kernel_w; ++j) {
      const float* from = weights + i * p.weight_row_stride + j * p.weight_column_stride;
      for (int64_t c = 0; c < p.in_channels; ++c, from += p.weight_channel_stride) {
        for (int64_t v = 0; v < vectors; ++v, to += kLanes) {
          const int lanes = n - v * kLanes < kLanes ? static_cast<int>(n - v * kLanes) : kLanes;
          F32::load_strided_partial(from + v * kLanes * p.weight_filter_stride, p.weight_filter_stride, lanes)
              .store(to);
        }
      }
    }
  }
}

// The kernel: T is a matmul::Tiling.
template <class T, class Epilogue, bool kPackedWeights = true>
cuvil_status run(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin, uint32_t end) {
  const Problem& p = *reinterpret_cast<const Problem*>(extents);
  const EpilogueOperands<Epilogue> epilogue(operands + 4, extents + kProblemExtents);
  const float* weights = static_cast<const float*>(operands[1]);
  const float* bias = static_cast<const float*>(operands[2]);
  float* out = static_cast<float*>(operands[3]);

  const int64_t pixels = p.images * p.out_height * p.out_width;
  const int64_t row_blocks = (pixels + p.block_rows - 1) / p.block_rows;
  const int64_t vectors = (p.out_channels + simd::kLanes - 1) / simd::kLanes;
  const int64_t panels = (vectors + T::kVectors - 1) / T::kVectors;
  const int64_t panel_groups = (panels + p.block_panels - 1) / p.block_panels;
  const int64_t depth = p.kernel_h * p.kernel_w * p.in_channels;

  float* packed = static_cast<float*>(scratch);
  float* rest_of_scratch = packed + (kPackedWeights ? 0 : (depth * T::kColumns + 15) / 16 * 16);
  Windows<T> windows(p, static_cast<const float*>(operands[0]), rest_of_scratch);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t block = item % row_blocks, rest = item / row_blocks;
    const int64_t group = rest / panel_groups, first_panel = rest % panel_groups * p.block_panels;
    const int64_t last_panel = first_panel + p.block_panels < panels ? first_panel + p.block_panels : panels;
    const int64_t first = block * p.block_rows;
    const int64_t count = pixels - first < p.block_rows ? pixels - first : p.block_rows;
    windows.prepare(group, first, count);
    const matmul::Destination<Epilogue> to{
        out + group * p.out_channels,          p.out_stride,        p.out_channels, group * p.out_channels,
        bias + group * vectors * simd::kLanes, windows.row_index(), first,          epilogue};
    for (int64_t panel = first_panel; panel < last_panel; ++panel) {
      const int64_t column = panel * T::kColumns;
      const float* b = weights + (group * vectors * simd::kLanes + column) * depth;
      if constexpr (!kPackedWeights) {
        const int64_t n = p.out_channels - column < T::kColumns ? p.out_channels - column : T::kColumns;
        pack_panel(p, weights + group * p.weight_group_stride, column, n, (n + simd::kLanes - 1) / simd::kLanes,
                   packed);
        b = packed;
      }
      matmul::multiply_panel<T, Epilogue>(to, windows.rows(), windows.taps(), windows.run(), b, count, column);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::conv

#endif  // CUVIL_KERNELS_CONV_CONV_H
