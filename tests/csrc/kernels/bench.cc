// How far the kernels are from the machine's limit: percent of the multiply-add rate of one core, for the layers of
// known networks. A measurement, not a test.
//
//   bench [filter]     lines whose name contains the filter; the schedule can be changed: ROWS=98 PANELS=2 bench ...
//                      COLD=256 bench ... takes the weights of each run from another part of so many megabytes
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <initializer_list>

#include "kernels/conv/conv.h"
#include "kernels/depthwise/depthwise.h"
#include "kernels/matmul/matmul.h"

namespace {

using namespace cuvil;
using simd::F32;
using simd::kLanes;

#ifndef CUVIL_BENCH_ROWS
#define CUVIL_BENCH_ROWS (kLanes == 16 ? 14 : kLanes == 8 ? 6 : kLanes == 4 ? 8 : 4)
#define CUVIL_BENCH_VECTORS (kLanes == 1 ? 3 : 2)
#endif
using T = kernels::matmul::Tiling<CUVIL_BENCH_ROWS, CUVIL_BENCH_VECTORS, true>;

struct Relu6 {
  static constexpr int kOperands = 0;
  static constexpr kernels::OperandMode kModes[1] = {{kernels::Rows::kOne, kernels::Columns::kOne}};
  [[maybe_unused]] static constexpr bool kLong = false;
  template <class V>
  static CUVIL_INLINE V apply(V x, const V*) {
    return math::clamp(x, math::constant<V>(0), math::constant<V>(6));
  }
};

double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double peak_flops = 0;

// Independent multiply-adds that the compiler cannot merge.
__attribute__((noinline)) double probe_once() {
  constexpr int kChains = kLanes == 8 || kLanes == 1 ? 12 : 24;
  constexpr int64_t kRepeats = 400000;
  F32 acc[kChains], m = F32::splat(0.999f), c = F32::splat(0.001f);
  for (int i = 0; i < kChains; ++i) acc[i] = F32::splat(static_cast<float>(i));
  const double start = now();
  for (int64_t n = 0; n < kRepeats; ++n) {
#pragma GCC unroll 24
    for (int i = 0; i < kChains; ++i) acc[i] = fma(acc[i], m, c);
  }
  const double seconds = now() - start;
  F32 sum = F32::zero();
  for (F32& a : acc) sum = sum + a;
  volatile float keep = reduce_add(sum);
  (void)keep;
  return 2.0 * kRepeats * kChains * kLanes / seconds;
}

void probe() {
  for (int i = 0; i < 4; ++i) {
    const double rate = probe_once();
    if (rate > peak_flops) peak_flops = rate;
  }
}

float* buffer(int64_t count) {
  float* p = static_cast<float*>(aligned_alloc(64, static_cast<size_t>((count * 4 + 127) / 64 * 64)));
  for (int64_t i = 0; i < count; ++i) p[i] = static_cast<float>(i * 7 % 31) * 0.02f - 0.3f;
  return p;
}

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = getenv(name);
  return text != nullptr ? atoll(text) : otherwise;
}

// Best time of some repeats after a look at the machine's speed in the same moment.
template <class Body>
void report(const char* name, double flops, double bytes, Body body) {
  body();
  double best = 1e9, spent = 0;
  probe();
  for (int i = 0; i < 400 && (i < 5 || spent < 0.12); ++i) {
    const double start = now();
    body();
    const double seconds = now() - start;
    spent += seconds;
    if (seconds < best) best = seconds;
  }
  printf("%-34s %9.1f us %6.1f GFLOP/s %5.1f%%  %6.1f GB/s\n", name, best * 1e6, flops / best * 1e-9,
         100 * flops / best / peak_flops, bytes / best * 1e-9);
}

// Weights that are in no cache when a run begins, if COLD says so: each run takes others.
struct Weights {
  int64_t stride, copies, turn = 0;
  float* all;
  explicit Weights(int64_t count)
      : stride((count + 31) / 16 * 16), copies(1 + setting("COLD", 0) * (1 << 18) / stride) {
    all = buffer(stride * copies);
  }
  ~Weights() { free(all); }
  float* next() { return all + stride * (turn++ % copies); }
};

int64_t panel_count(int64_t columns) { return (columns + T::kColumns - 1) / T::kColumns; }

const char* filter = "";

void conv(const char* label, int64_t size, int64_t ci, int64_t co, int64_t kernel, int64_t stride, int64_t rows = 0,
          int64_t panels = 0) {
  char name[80];
  snprintf(name, sizeof name, "%s %dx%d/%d %dx%d %d->%d", label, (int)kernel, (int)kernel, (int)stride, (int)size,
           (int)size, (int)ci, (int)co);
  if (strstr(name, filter) == nullptr) return;
  kernels::conv::Problem p{};
  p.images = 1, p.in_height = p.in_width = size, p.in_channels = p.in_stride = ci;
  p.out_height = p.out_width = (size + stride - 1) / stride, p.out_channels = p.out_stride = co, p.groups = 1;
  p.kernel_h = p.kernel_w = kernel, p.stride_h = p.stride_w = stride, p.dilation_h = p.dilation_w = 1;
  p.pad_top = p.pad_left = (kernel - 1) / 2;
  const int64_t pixels = p.out_height * p.out_width, depth = kernel * kernel * ci;
  const bool collide = kernel == 1 && ci * stride * 4 % 4096 == 0 && T::kRows > 10;
  p.access = setting("ACCESS", ci < 16 && kernel > 1 ? kernels::conv::kRuns : collide ? kernels::conv::kCopy : 0);
  p.block_rows = setting("ROWS", rows != 0 ? rows : pixels < 196 ? pixels : 196);
  p.block_panels = setting("PANELS", panels != 0 ? panels : panel_count(co));
  Weights weights(depth * panel_count(co) * T::kColumns);
  float *in = buffer(size * size * ci), *out = buffer(pixels * co);
  float* bias = buffer(panel_count(co) * T::kColumns);
  const int64_t copies = p.access == 1   ? kernel * p.block_rows * (kernel * ci + 32)
                         : p.access == 2 ? p.block_rows * (ci + 32)
                                         : 0;
  float* scratch = buffer((p.block_rows + T::kRows) * kernel * kernel * 2 + depth + 64 + copies);
  void* operands[] = {in, nullptr, bias, out};
  const int64_t items =
      (panel_count(co) + p.block_panels - 1) / p.block_panels * ((pixels + p.block_rows - 1) / p.block_rows);
  report(name, 2.0 * static_cast<double>(pixels * depth * co),
         4.0 * static_cast<double>(size * size * ci + pixels * co + depth * co), [&] {
           operands[1] = weights.next();
           kernels::conv::run<T, Relu6>(operands, reinterpret_cast<const int64_t*>(&p), scratch, 0,
                                        static_cast<uint32_t>(items));
         });
  for (float* x : {in, out, bias, scratch}) free(x);
}

void matmul(const char* label, int64_t m, int64_t k, int64_t n, bool dynamic = false, bool transposed = false,
            int64_t batch = 1) {
  char name[80];
  snprintf(name, sizeof name, "%s %d x %dx%dx%d%s%s", label, (int)batch, (int)m, (int)k, (int)n,
           dynamic ? " unpacked" : "", transposed ? "^T" : "");
  if (strstr(name, filter) == nullptr) return;
  int64_t extents[kernels::matmul::kProblemExtents + 3];
  kernels::matmul::Problem p{};
  p.rows = m, p.depth = k, p.columns = n, p.a_row_stride = k, p.a_depth_stride = 1;
  p.b_depth_stride = transposed ? 1 : n, p.b_column_stride = transposed ? k : 1, p.out_row_stride = n;
  p.copy_rows = setting("ACCESS", T::kRows > 10 && k * 4 % 4096 == 0 && m > 14 ? 1 : 0);
  p.block_rows = setting("ROWS", m < 196 ? m : 196), p.block_panels = setting("PANELS", panel_count(n)),
  p.batch_rank = 1;
  memcpy(extents, &p, sizeof p);
  const int64_t axis[] = {batch, m * k, k * n};
  memcpy(extents + kernels::matmul::kProblemExtents, axis, sizeof axis);
  Weights b(batch * k * panel_count(n) * T::kColumns);
  float *a = buffer(batch * m * k), *out = buffer(batch * m * n);
  float *bias = buffer(panel_count(n) * T::kColumns),
        *scratch = buffer((p.block_rows + 32) * (k + 40) + k * T::kColumns + 1000);
  void* operands[] = {a, nullptr, bias, out};
  const int64_t items =
      batch * ((panel_count(n) + p.block_panels - 1) / p.block_panels) * ((m + p.block_rows - 1) / p.block_rows);
  report(name, 2.0 * static_cast<double>(batch * m * k * n), 4.0 * static_cast<double>(batch * (m * k + k * n + m * n)),
         [&] {
           operands[1] = b.next();
           if (dynamic) {
             kernels::matmul::run<T, Relu6, false>(operands, extents, scratch, 0, static_cast<uint32_t>(items));
           } else {
             kernels::matmul::run<T, Relu6, true>(operands, extents, scratch, 0, static_cast<uint32_t>(items));
           }
         });
  for (float* x : {a, out, bias, scratch}) free(x);
}

template <class S>
void depthwise(const char* label, int64_t size, int64_t channels) {
  char name[80];
  snprintf(name, sizeof name, "%s %dx%d/%d %dx%d %d", label, S::kKernelW, S::kKernelW, S::kStrideW, (int)size,
           (int)size, (int)channels);
  if (strstr(name, filter) == nullptr) return;
  kernels::depthwise::Problem p{};
  p.images = 1, p.in_height = p.in_width = size, p.in_stride = p.out_stride = p.channels = channels;
  p.out_height = p.out_width = (size + S::kStrideW - 1) / S::kStrideW;
  p.stride_h = S::kStrideW, p.dilation_h = 1, p.pad_top = p.pad_left = (S::kKernelW - 1) / 2;
  p.block_rows = setting("ROWS", p.out_height), p.block_channels = setting("CHANNELS", channels);
  const int64_t pixels = p.out_height * p.out_width, padded = (channels + kLanes - 1) / kLanes * kLanes;
  float *in = buffer(size * size * channels), *weights = buffer(S::kKernelW * S::kKernelW * padded),
        *bias = buffer(padded);
  float *out = buffer(pixels * channels), *scratch = buffer(padded);
  void* operands[] = {in, weights, bias, out};
  const int64_t items =
      (channels + p.block_channels - 1) / p.block_channels * ((p.out_height + p.block_rows - 1) / p.block_rows);
  report(name, 2.0 * static_cast<double>(pixels * channels * S::kKernelW * S::kKernelW),
         4.0 * static_cast<double>(size * size * channels + pixels * channels), [&] {
           kernels::depthwise::run<S, Relu6>(operands, reinterpret_cast<const int64_t*>(&p), scratch, 0,
                                             static_cast<uint32_t>(items));
         });
  for (float* x : {in, weights, out, bias, scratch}) free(x);
}

void resnet50() {
  conv("resnet", 224, 3, 64, 7, 2);
  const int64_t sizes[] = {56, 28, 14, 7}, widths[] = {64, 128, 256, 512};
  conv("resnet", 56, 64, 64, 1, 1);
  for (int i = 0; i < 4; ++i) {
    const int64_t s = sizes[i], w = widths[i];
    if (i > 0) conv("resnet", 2 * s, 2 * w, w, 1, 1);
    if (i > 0) conv("resnet", 2 * s, w, w, 3, 2);
    if (i > 0) conv("resnet", 2 * s, 2 * w, 4 * w, 1, 2);
    conv("resnet", s, 4 * w, w, 1, 1);
    conv("resnet", s, w, w, 3, 1);
    conv("resnet", s, w, 4 * w, 1, 1);
  }
  matmul("resnet fc", 1, 2048, 1000);
}

void small() {
  conv("small", 80, 3, 32, 3, 2), conv("small", 40, 32, 16, 1, 1), conv("small", 40, 16, 96, 1, 1),
      conv("small", 28, 24, 144, 1, 1), conv("small", 28, 144, 24, 1, 1), conv("small", 14, 32, 192, 1, 1);
}

void mobilenet() {
  conv("mobile", 224, 3, 32, 3, 2);
  struct Point {
    int64_t size, in, out;
  };
  for (Point p : {Point{112, 32, 16},
                  {112, 16, 96},
                  {56, 96, 24},
                  {56, 24, 144},
                  {56, 144, 24},
                  {28, 144, 32},
                  {28, 32, 192},
                  {28, 192, 32},
                  {14, 192, 64},
                  {14, 64, 384},
                  {14, 384, 64},
                  {14, 384, 96},
                  {14, 96, 576},
                  {14, 576, 96},
                  {7, 576, 160},
                  {7, 160, 960},
                  {7, 960, 160},
                  {7, 960, 320},
                  {7, 320, 1280}})
    conv("mobile", p.size, p.in, p.out, 1, 1);
  using S1 = kernels::depthwise::Shape<3, 3, 1, 1, 7>;
  using S2 = kernels::depthwise::Shape<3, 3, 2, 1, 7>;
  using L1 = kernels::depthwise::Shape<5, 5, 1, 1, 7>;
  depthwise<S1>("depthwise", 112, 32), depthwise<S2>("depthwise", 112, 96), depthwise<S1>("depthwise", 56, 144);
  depthwise<S2>("depthwise", 56, 144), depthwise<S1>("depthwise", 28, 192), depthwise<S2>("depthwise", 28, 192);
  depthwise<S1>("depthwise", 14, 384), depthwise<S1>("depthwise", 14, 512), depthwise<S1>("depthwise", 14, 576);
  depthwise<S2>("depthwise", 14, 576), depthwise<S1>("depthwise", 7, 960), depthwise<L1>("depthwise", 28, 120);
  depthwise<L1>("depthwise", 14, 672);
}

void transformer() {
  matmul("bert qkv", 128, 768, 768), matmul("bert up", 128, 768, 3072), matmul("bert down", 128, 3072, 768);
  matmul("attention qk", 128, 64, 128, true, true, 12), matmul("attention av", 128, 128, 64, true, false, 12);
  matmul("deit qk", 197, 64, 197, true, true, 3), matmul("deit av", 197, 197, 64, true, false, 3);
  matmul("gemv", 1, 4096, 4096), matmul("gemv", 1, 768, 3072), matmul("gemm", 4, 768, 3072);
  matmul("square", 512, 512, 512, true), matmul("square", 1024, 1024, 1024);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) filter = arguments[1];
  probe();
  printf("multiply-add limit: %.1f GFLOP/s\n", peak_flops * 1e-9);
  resnet50();
  mobilenet();
  small();
  transformer();
  return 0;
}
