// Depthwise convolutions against plain loops in double: channel tails, strides, dilations, pads up to beyond the
// kernel's reach, images narrower than a tile, wider pixels, channel blocks, work split in parts, no images. Every
// buffer ends at a page without access.
#include "kernels/depthwise/depthwise.h"

#include "../../check.h"
#include "../pack.h"

namespace {

using namespace cuvil;
using namespace cuvil::test;
using kernels::Columns;
using kernels::NoEpilogue;
using kernels::OperandMode;
using kernels::Rows;
using kernels::depthwise::Problem;
using kernels::depthwise::Shape;

struct Chain {
  static constexpr int kOperands = 2;
  static constexpr OperandMode kModes[] = {{Rows::kEach, Columns::kEach}, {Rows::kImage, Columns::kEach}};
  static constexpr bool kLong = true;
  template <class V>
  static CUVIL_INLINE V apply(V x, const V* e) {
    return math::fma(x, e[1], e[0]);
  }
};

template <class S, class Epilogue>
void run_case(const Problem& p, Random& random) {
  const int64_t lanes = simd::kLanes, padded = round_up(p.channels, lanes);
  const int64_t in_pixels = p.images * p.in_height * p.in_width, rows = p.images * p.out_height * p.out_width;
  Guarded<float> in(in_pixels == 0 ? 0 : (in_pixels - 1) * p.in_stride + p.channels);
  Guarded<float> weights(S::kKernelH * S::kKernelW * padded), bias(padded);
  Guarded<float> out(rows == 0 ? 0 : (rows - 1) * p.out_stride + p.channels);
  Guarded<float> residual(rows * p.channels), factor(p.images * p.channels);
  fill(in, random), fill(weights, random), fill(bias, random), fill(residual, random), fill(factor, random);
  for (size_t i = 0; i < out.size(); ++i) out[i] = 77.0f;
  Guarded<int64_t> extents(kernels::depthwise::kProblemExtents + 3);
  memcpy(extents.data(), &p, sizeof p);
  const int64_t more[] = {p.channels, p.out_height * p.out_width, p.channels};
  memcpy(extents.data() + kernels::depthwise::kProblemExtents, more, sizeof more);
  void* operands[] = {in.data(), weights.data(), bias.data(), out.data(), residual.data(), factor.data()};
  const uint32_t items = static_cast<uint32_t>((p.channels + p.block_channels - 1) / p.block_channels *
                                               ((p.images * p.out_height + p.block_rows - 1) / p.block_rows));
  const uint32_t parts = static_cast<uint32_t>(random.between(1, 3));
  for (uint32_t part = 0; part < parts; ++part) {
    Guarded<float> scratch(static_cast<size_t>(round_up(p.block_channels, lanes)));
    memset(scratch.data(), 0xff, scratch.size() * 4);
    kernels::depthwise::run<S, Epilogue>(operands, extents.data(), scratch.data(), items * part / parts,
                                         items * (part + 1) / parts);
  }
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t n = row / (p.out_height * p.out_width), oh = row / p.out_width % p.out_height, ow = row % p.out_width;
    for (int64_t c = 0; c < p.channels; ++c) {
      double want = bias[c];
      for (int64_t i = 0; i < S::kKernelH; ++i) {
        for (int64_t j = 0; j < S::kKernelW; ++j) {
          const int64_t ih = oh * p.stride_h - p.pad_top + i * p.dilation_h;
          const int64_t iw = ow * S::kStrideW - p.pad_left + j * S::kDilationW;
          if (ih < 0 || ih >= p.in_height || iw < 0 || iw >= p.in_width) continue;
          want += static_cast<double>(in[((n * p.in_height + ih) * p.in_width + iw) * p.in_stride + c]) *
                  weights[(i * S::kKernelW + j) * padded + c];
        }
      }
      if (Epilogue::kOperands == 2) want = want * factor[n * p.channels + c] + residual[row * p.channels + c];
      float& got = out[row * p.out_stride + c];
      CHECK(close(got, want, S::kKernelH * S::kKernelW),
            "%dx%dx%dx%d, kernel %dx%d, stride %d %d, dilation %d %d, pads %d %d: row %d, channel %d: %g, want %g",
            (int)p.images, (int)p.in_height, (int)p.in_width, (int)p.channels, S::kKernelH, S::kKernelW,
            (int)p.stride_h, S::kStrideW, (int)p.dilation_h, S::kDilationW, (int)p.pad_top, (int)p.pad_left, (int)row,
            (int)c, static_cast<double>(got), want);
      got = 77.0f;
    }
  }
  for (size_t i = 0; i < out.size(); ++i) CHECK(out[i] == 77.0f, "wrote where no result belongs");
}

template <class S>
void random_case(Random& random) {
  Problem p{};
  p.images = random.between(0, 9) == 0 ? 0 : random.between(1, 3);
  p.in_height = random.between(1, 9),
  p.in_width = random.between(0, 2) == 0 ? random.between(13, 40) : random.between(1, 12);
  p.stride_h = random.between(1, 3), p.dilation_h = random.between(1, 2);
  p.pad_top = random.between(-1, 7), p.pad_left = random.between(-1, 9);
  p.out_height = random.between(1, 8), p.out_width = random.between(1, 18);  // whatever: beyond the image are zeros
  p.channels = random.between(0, 3) == 0 ? random.between(41, 90) : random.between(1, 40);
  p.in_stride = p.channels + random.between(0, 1) * 3, p.out_stride = p.channels + random.between(0, 1) * 3;
  p.block_rows = random.between(1, 5);
  p.block_channels = random.between(0, 1) == 0 ? p.channels : random.between(1, 3) * simd::kLanes;
  if (random.between(0, 1) == 0) return run_case<S, NoEpilogue>(p, random);
  run_case<S, Chain>(p, random);
}

}  // namespace

// depthwise_test [cases]
int main(int count, char** arguments) {
  const int cases = count > 1 ? atoi(arguments[1]) : 60;
  Random random(1);
  for (int i = 0; i < cases; ++i) {
    random_case<Shape<3, 3, 1, 1, 7>>(random);
    random_case<Shape<3, 3, 2, 1, 4>>(random);
    random_case<Shape<5, 5, 1, 1, 7>>(random);
    random_case<Shape<5, 5, 3, 2, 2>>(random);
    random_case<Shape<1, 2, 1, 3, 3>>(random);
    random_case<Shape<2, 1, 2, 1, 1>>(random);
    random_case<Shape<9, 7, 1, 1, 6>>(random);
  }
  return cuvil::test::finish("depthwise_test");
}
