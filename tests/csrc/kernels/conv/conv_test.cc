// Convolutions against plain loops in double: odd sizes and channel tails, strides, dilations, uneven pads up to beyond
// the kernel's reach, groups, all ways of reading windows, wider pixels in and out, spread outputs, work split in
// parts, no images at all. Every buffer ends at a page without access.
#include "kernels/conv/conv.h"

#include "../../check.h"
#include "../pack.h"

namespace {

using namespace cuvil;
using namespace cuvil::test;
using kernels::Columns;
using kernels::NoEpilogue;
using kernels::OperandMode;
using kernels::Rows;
using kernels::conv::Problem;

using Tile = kernels::matmul::Tiling<(simd::kLanes == 16  ? 14
                                      : simd::kLanes == 8 ? 6
                                      : simd::kLanes == 4 ? 8
                                                          : 3),
                                     (simd::kLanes == 1 ? 4 : 2), true>;
using OtherTile = kernels::matmul::Tiling<4, 3, false>;

// A residual and a factor for each image and channel: x * e1 + e0.
struct Chain {
  static constexpr int kOperands = 2;
  static constexpr OperandMode kModes[] = {{Rows::kEach, Columns::kEach}, {Rows::kImage, Columns::kEach}};
  static constexpr bool kLong = false;
  template <class V>
  static CUVIL_INLINE V apply(V x, const V* e) {
    return math::fma(x, e[1], e[0]);
  }
};

template <class T, class Epilogue, bool kPacked = true>
void run_case(Problem p, Random& random) {
  const int64_t lanes = simd::kLanes, taps = p.kernel_h * p.kernel_w, depth = taps * p.in_channels;
  const int64_t in_all = p.groups * p.in_channels, out_all = p.groups * p.out_channels;
  const bool spread = p.spread_h != 0;
  const int64_t out_h = spread ? p.image_height : p.out_height, out_w = spread ? p.image_width : p.out_width;
  const int64_t in_pixels = p.images * p.in_height * p.in_width, out_pixels = p.images * out_h * out_w;
  Guarded<float> in(in_pixels == 0 ? 0 : (in_pixels - 1) * p.in_stride + in_all);
  Guarded<float> weights(out_all * depth), packed(p.groups * round_up(p.out_channels, lanes) * depth);
  Guarded<float> bias(p.groups * round_up(p.out_channels, lanes));
  Guarded<float> out(out_pixels == 0 ? 0 : (out_pixels - 1) * p.out_stride + out_all);
  Guarded<float> residual(out_pixels * out_all), factor(p.images * out_all);
  fill(in, random), fill(weights, random), fill(bias, random), fill(residual, random), fill(factor, random);
  for (size_t i = 0; i < out.size(); ++i) out[i] = 77.0f;
  float* to = packed.data();
  for (int64_t g = 0; g < p.groups; ++g) {
    to = pack(to, depth, p.out_channels, T::kVectors,
              [&](int64_t k, int64_t c) { return weights[(g * p.out_channels + c) * depth + k]; });
  }
  // The plain weights are [filter][kh][kw][channel].
  p.weight_group_stride = p.out_channels * depth, p.weight_filter_stride = depth, p.weight_channel_stride = 1;
  p.weight_row_stride = p.kernel_w * p.in_channels, p.weight_column_stride = p.in_channels;
  Guarded<int64_t> extents(kernels::conv::kProblemExtents + 3);
  memcpy(extents.data(), &p, sizeof p);
  const int64_t more[] = {out_all, out_h * out_w, out_all};
  memcpy(extents.data() + kernels::conv::kProblemExtents, more, sizeof more);
  void* operands[] = {in.data(),    kPacked ? packed.data() : weights.data(), bias.data(), out.data(), residual.data(),
                      factor.data()};

  const int64_t run = p.in_channels * (p.access == kernels::conv::kRuns ? p.kernel_w : 1);
  const int64_t pointer_taps = p.kernel_h * (p.access == kernels::conv::kRuns ? 1 : p.kernel_w);
  // As in conv_call.py: only windows over the left or right side are copied.
  auto up = [](int64_t x, int64_t y) { return x >= 0 ? (x + y - 1) / y : -(-x / y); };
  auto down = [](int64_t x, int64_t y) { return x >= 0 ? x / y : -((-x + y - 1) / y); };
  const int64_t left = up(p.pad_left, p.stride_w);
  const int64_t right = p.out_width - 1 - down(p.in_width + p.pad_left - p.kernel_w, p.stride_w);
  const int64_t sides = (left > 0 ? left : 0) + (right > 0 ? right : 0);
  const int64_t at_sides = (p.block_rows / p.out_width + 2) * (sides < p.out_width ? sides : p.out_width);
  const int64_t run_copies = p.kernel_h * (at_sides < p.block_rows ? at_sides : p.block_rows);
  const int64_t copies = p.access == kernels::conv::kRuns   ? run_copies
                         : p.access == kernels::conv::kCopy ? p.block_rows
                                                            : 0;
  const int64_t scratch_bytes = (kPacked ? 0 : round_up(depth * T::kColumns, 16) * 4) +
                                round_up(round_up(p.block_rows, T::kRows) * pointer_taps * 8, 64) +
                                round_up(run * 4, 64) + (spread ? round_up(p.block_rows * 8, 64) : 0) +
                                copies * (round_up(run, 16) + 16) * 4;
  const int64_t panels = (round_up(p.out_channels, lanes) / lanes + T::kVectors - 1) / T::kVectors;
  const int64_t rows = p.images * p.out_height * p.out_width;
  const uint32_t items = static_cast<uint32_t>(p.groups * ((panels + p.block_panels - 1) / p.block_panels) *
                                               ((rows + p.block_rows - 1) / p.block_rows));
  const uint32_t parts = static_cast<uint32_t>(random.between(1, 3));
  for (uint32_t part = 0; part < parts; ++part) {
    Guarded<char> scratch(static_cast<size_t>(scratch_bytes));
    memset(scratch.data(), 0xff, scratch.size());
    kernels::conv::run<T, Epilogue, kPacked>(operands, extents.data(), scratch.data(), items * part / parts,
                                             items * (part + 1) / parts);
  }

  for (int64_t row = 0; row < rows; ++row) {
    const int64_t n = row / (p.out_height * p.out_width), oh = row / p.out_width % p.out_height, ow = row % p.out_width;
    const int64_t place =
        spread ? (n * out_h + oh * p.spread_h + p.first_h) * out_w + ow * p.spread_w + p.first_w : row;
    for (int64_t channel = 0; channel < out_all; ++channel) {
      const int64_t g = channel / p.out_channels, co = channel % p.out_channels;
      double want = T::kHasBias ? bias[g * round_up(p.out_channels, lanes) + co] : 0.0;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t ci = k % p.in_channels, tap = k / p.in_channels;
        const int64_t ih = oh * p.stride_h - p.pad_top + tap / p.kernel_w * p.dilation_h;
        const int64_t iw = ow * p.stride_w - p.pad_left + tap % p.kernel_w * p.dilation_w;
        if (ih < 0 || ih >= p.in_height || iw < 0 || iw >= p.in_width) continue;
        const int64_t pixel = (n * p.in_height + ih) * p.in_width + iw;
        want += static_cast<double>(in[pixel * p.in_stride + g * p.in_channels + ci]) * weights[channel * depth + k];
      }
      if (Epilogue::kOperands == 2) want = want * factor[n * out_all + channel] + residual[place * out_all + channel];
      float& got = out[place * p.out_stride + channel];
      CHECK(
          close(got, want, depth),
          "%dx%dx%d of %d groups of %d to %d, stride %d %d, dilation %d %d, pads %d %d, access %d: row %d, channel %d: "
          "%g, want %g",
          (int)p.images, (int)p.in_height, (int)p.in_width, (int)p.groups, (int)p.in_channels, (int)p.out_channels,
          (int)p.stride_h, (int)p.stride_w, (int)p.dilation_h, (int)p.dilation_w, (int)p.pad_top, (int)p.pad_left,
          (int)p.access, (int)row, (int)channel, static_cast<double>(got), want);
      got = 77.0f;
    }
  }
  for (size_t i = 0; i < out.size(); ++i) CHECK(out[i] == 77.0f, "wrote where no result belongs");
}

void random_case(Random& random) {
  Problem p{};
  p.images = random.between(0, 9) == 0 ? 0 : random.between(1, 3);
  p.in_height = random.between(1, 12),
  p.in_width = random.between(0, 4) == 0 ? random.between(13, 40) : random.between(1, 12);
  p.kernel_h = random.between(1, 4), p.kernel_w = random.between(1, 5);
  p.stride_h = random.between(1, 3), p.stride_w = random.between(1, 3);
  p.dilation_h = random.between(0, 2) == 0 ? 2 : 1, p.dilation_w = random.between(0, 2) == 0 ? 2 : 1;
  p.pad_top = random.between(-1, 5), p.pad_left = random.between(-1, 6);
  p.out_height = random.between(1, 8), p.out_width = random.between(1, 9);  // whatever: beyond the image are zeros
  p.groups = random.between(0, 2) == 0 ? random.between(2, 3) : 1;
  p.in_channels = random.between(1, 20),
  p.out_channels = random.between(0, 3) == 0 ? random.between(30, 70) : random.between(1, 40);
  p.in_stride = p.groups * p.in_channels + random.between(0, 1) * 3;
  p.out_stride = p.groups * p.out_channels + random.between(0, 1) * 3;
  p.block_rows = random.between(1, 50), p.block_panels = random.between(1, 3);
  const int kind = random.between(0, 3);
  if (kind == 1) {
    p.access = kernels::conv::kRuns;
    p.dilation_w = 1, p.groups = 1, p.in_channels = random.between(1, 5), p.in_stride = p.in_channels;
    p.out_stride = p.out_channels;
  }
  if (kind == 2) p.access = kernels::conv::kCopy, p.kernel_h = p.kernel_w = 1;
  if (kind == 3) {
    p.spread_h = random.between(1, 3), p.spread_w = random.between(1, 3);
    p.first_h = random.between(0, static_cast<int>(p.spread_h) - 1),
    p.first_w = random.between(0, static_cast<int>(p.spread_w) - 1);
    p.image_height = p.out_height * p.spread_h, p.image_width = p.out_width * p.spread_w;
    if (random.between(0, 5) == 0) p.kernel_h = 0;
  }
  const int which = random.between(0, 3);
  if (which == 0) run_case<Tile, NoEpilogue>(p, random);
  if (which == 1) run_case<Tile, Chain>(p, random);
  if (which == 2) run_case<OtherTile, Chain>(p, random);
  if (which == 3) run_case<OtherTile, NoEpilogue, false>(p, random);
}

}  // namespace

// conv_test [cases]
int main(int count, char** arguments) {
  const int cases = count > 1 ? atoi(arguments[1]) : 500;
  Random random(1);
  for (int i = 0; i < cases; ++i) random_case(random);
  return cuvil::test::finish("conv_test");
}
