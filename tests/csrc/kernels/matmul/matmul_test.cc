// Matrix products against sums in double: odd sizes, tails of rows and columns, packed and unpacked b, transposed
// operands, batches with broadcasting, every kind of epilogue operand, work split in parts. Every buffer ends at a page
// without access.
#include "kernels/matmul/matmul.h"

#include "../../check.h"
#include "../pack.h"

namespace {

using namespace cuvil;
using namespace cuvil::test;
using kernels::Columns;
using kernels::NoEpilogue;
using kernels::OperandMode;
using kernels::Rows;

#ifndef CUVIL_TEST_ROWS
#define CUVIL_TEST_ROWS (simd::kLanes == 16 ? 14 : simd::kLanes == 8 ? 6 : simd::kLanes == 4 ? 8 : 3)
#define CUVIL_TEST_VECTORS (simd::kLanes == 1 ? 4 : 2)
#endif
using WithBias = kernels::matmul::Tiling<CUVIL_TEST_ROWS, CUVIL_TEST_VECTORS, true>;
using NoBias = kernels::matmul::Tiling<CUVIL_TEST_ROWS, CUVIL_TEST_VECTORS, false>;

struct Residual {
  static constexpr int kOperands = 1;
  static constexpr OperandMode kModes[] = {{Rows::kEach, Columns::kEach}};
  static constexpr bool kLong = false;
  template <class V>
  static CUVIL_INLINE V apply(V x, const V* e) {
    return math::relu(math::add(x, e[0]));
  }
};

struct Everything {
  static constexpr int kOperands = 5;
  static constexpr OperandMode kModes[] = {{Rows::kOne, Columns::kOne},
                                           {Rows::kOne, Columns::kEach},
                                           {Rows::kEach, Columns::kOne},
                                           {Rows::kImage, Columns::kEach},
                                           {Rows::kMapped, Columns::kEach}};
  static constexpr bool kLong = true;
  template <class V>
  static CUVIL_INLINE V apply(V x, const V* e) {
    return math::add(math::add(math::mul(x, e[0]), e[1]), math::add(math::mul(e[2], e[3]), e[4]));
  }
};

struct Shape {
  int64_t batch_a, batch_b, rows, depth, columns;  // batch axes [2][3] where > 1: 1, 2 (outer only), 3 (inner only), 6
  bool transpose_a, transpose_b, packed, copy, bias;
  int64_t block_rows, block_panels, out_gap;
};

int64_t batch_offset(int64_t batches, int64_t outer, int64_t inner, int64_t size) {
  if (batches == 6) return (outer * 3 + inner) * size;
  return batches == 2 ? outer * size : batches == 3 ? inner * size : 0;
}

template <class T, class Epilogue, bool kPacked>
void run_case(const Shape& s, Random& random, int epilogue_kind) {
  const int64_t outer = s.batch_a == 2 || s.batch_a == 6 || s.batch_b == 2 || s.batch_b == 6 ? 2 : 1;
  const int64_t inner = s.batch_a == 3 || s.batch_a == 6 || s.batch_b == 3 || s.batch_b == 6 ? 3 : 1;
  const int64_t batches = outer * inner, all_rows = batches * s.rows;
  const int64_t lanes = simd::kLanes, out_stride = s.columns + s.out_gap;
  Guarded<float> a(s.batch_a * s.rows * s.depth), b(s.batch_b * s.depth * s.columns);
  Guarded<float> packed(kPacked ? s.batch_b * s.depth * round_up(s.columns, lanes) : 0);
  Guarded<float> bias(round_up(s.columns, lanes)), out(all_rows == 0 ? 0 : (all_rows - 1) * out_stride + s.columns);
  fill(a, random), fill(b, random), fill(bias, random);
  for (size_t i = 0; i < out.size(); ++i) out[i] = 77.0f;
  auto b_at = [&](int64_t batch, int64_t k, int64_t n) {
    return b[batch * s.depth * s.columns + (s.transpose_b ? n * s.depth + k : k * s.columns + n)];
  };
  if (kPacked) {
    float* to = packed.data();
    for (int64_t i = 0; i < s.batch_b; ++i)
      to = pack(to, s.depth, s.columns, T::kVectors, [&](int64_t k, int64_t n) { return b_at(i, k, n); });
  }
  Guarded<float> scalar(1), channel(s.columns), per_row(all_rows), image(batches * s.columns);
  Guarded<float> residual(all_rows * s.columns), mapped(s.rows * s.columns);
  fill(scalar, random), fill(channel, random), fill(per_row, random), fill(image, random);
  fill(residual, random), fill(mapped, random);

  const int64_t b_size = kPacked ? s.depth * round_up(s.columns, lanes) : s.depth * s.columns;
  const int64_t a_size = s.rows * s.depth;
  auto strides = [](int64_t n, int64_t size, int64_t& o, int64_t& i) {
    o = n == 6 ? 3 * size : n == 2 ? size : 0;
    i = n == 6 || n == 3 ? size : 0;
  };
  int64_t ao, ai, bo, bi;
  strides(s.batch_a, a_size, ao, ai), strides(s.batch_b, b_size, bo, bi);
  Guarded<int64_t> extents(kernels::matmul::kProblemExtents + 6 +
                           (epilogue_kind == 1   ? 1
                            : epilogue_kind == 2 ? 8
                                                 : 0));
  const kernels::matmul::Problem problem{s.rows,
                                         s.depth,
                                         s.columns,
                                         s.transpose_a ? 1 : s.depth,
                                         s.transpose_a ? s.rows : 1,
                                         s.transpose_b ? 1 : s.columns,
                                         s.transpose_b ? s.depth : 1,
                                         out_stride,
                                         s.copy || s.transpose_a,
                                         s.block_rows,
                                         s.block_panels,
                                         2};
  memcpy(extents.data(), &problem, sizeof problem);
  int64_t* more = extents.data() + kernels::matmul::kProblemExtents;
  const int64_t axes[] = {outer, ao, bo, inner, ai, bi};
  memcpy(more, axes, sizeof axes);
  const int64_t residual_extents[] = {s.columns};
  const int64_t every_extents[] = {1, s.rows, s.columns, 2, batches, 0, s.rows, s.columns};
  if (epilogue_kind == 1) memcpy(more + 6, residual_extents, sizeof residual_extents);
  if (epilogue_kind == 2) memcpy(more + 6, every_extents, sizeof every_extents);

  void* operands[] = {
      a.data(), kPacked ? packed.data() : b.data(), bias.data(), out.data(), residual.data(), nullptr, nullptr, nullptr,
      nullptr};
  void* every[] = {scalar.data(), channel.data(), per_row.data(), image.data(), mapped.data()};
  if (epilogue_kind == 2) memcpy(operands + 4, every, sizeof every);

  const int64_t scratch_floats = round_up(round_up(s.block_rows, T::kRows), 8) * 2 +
                                 (kPacked ? 0 : s.depth * T::kColumns) +
                                 (problem.copy_rows ? s.block_rows * kernels::matmul::copy_stride(s.depth) : 0);
  const int64_t panels = (round_up(s.columns, lanes) / lanes + T::kVectors - 1) / T::kVectors;
  const int64_t groups = (panels + s.block_panels - 1) / s.block_panels;
  const uint32_t items = static_cast<uint32_t>(batches * groups * ((s.rows + s.block_rows - 1) / s.block_rows));
  const uint32_t parts = static_cast<uint32_t>(random.between(1, 3));
  for (uint32_t part = 0; part < parts; ++part) {
    Guarded<float> scratch(static_cast<size_t>(round_up(scratch_floats, 16)));
    memset(scratch.data(), 0xff, scratch.size() * 4);
    kernels::matmul::run<T, Epilogue, kPacked>(operands, extents.data(), scratch.data(), items * part / parts,
                                               items * (part + 1) / parts);
  }
  for (int64_t i = 0; i < all_rows; ++i) {
    const int64_t batch = i / s.rows, m = i % s.rows;
    const float* a_matrix = a.data() + batch_offset(s.batch_a, batch / inner, batch % inner, a_size);
    const int64_t b_batch = batch_offset(s.batch_b, batch / inner, batch % inner, 1);
    for (int64_t n = 0; n < out_stride && i * out_stride + n < static_cast<int64_t>(out.size()); ++n) {
      const float got = out[i * out_stride + n];
      if (n >= s.columns) {
        CHECK(got == 77.0f, "wrote between rows");
        continue;
      }
      double want = T::kHasBias ? bias[n] : 0.0;
      for (int64_t k = 0; k < s.depth; ++k)
        want += static_cast<double>(a_matrix[s.transpose_a ? k * s.rows + m : m * s.depth + k]) * b_at(b_batch, k, n);
      if (epilogue_kind == 1) want = fmax(0.0, want + residual[i * s.columns + n]);
      if (epilogue_kind == 2)
        want = want * scalar[0] + channel[n] + per_row[i] * image[batch * s.columns + n] + mapped[m * s.columns + n];
      CHECK(close(got, want, s.depth),
            "batch %d x %d of %d x %d x %d, transposed %d %d, packed %d, epilogue %d: [%d, %d] = %g, want %g",
            (int)s.batch_a, (int)s.batch_b, (int)s.rows, (int)s.depth, (int)s.columns, s.transpose_a, s.transpose_b,
            kPacked, epilogue_kind, (int)i, (int)n, static_cast<double>(got), want);
    }
  }
}

void random_case(Random& random) {
  const int64_t batches[] = {1, 1, 2, 3, 6};
  Shape s{};
  s.batch_a = batches[random.between(0, 4)], s.batch_b = batches[random.between(0, 4)];
  s.rows = random.between(0, 9) == 0 ? random.between(30, 70) : random.between(1, 20);
  s.depth = random.between(0, 9) == 0 ? 0 : random.between(1, 70);
  s.columns = random.between(0, 3) == 0 ? random.between(40, 100) : random.between(1, 40);
  s.transpose_a = random.between(0, 3) == 0, s.transpose_b = random.between(0, 1) != 0;
  s.copy = random.between(0, 3) == 0;
  s.block_rows = random.between(1, 40), s.block_panels = random.between(1, 3);
  s.out_gap = random.between(0, 1) * 5;
  const int kind = random.between(0, 5);
  if (kind == 0) run_case<WithBias, NoEpilogue, true>(s, random, 0);
  if (kind == 1) run_case<NoBias, NoEpilogue, false>(s, random, 0);
  if (kind == 2) run_case<WithBias, Residual, true>(s, random, 1);
  if (kind == 3) run_case<NoBias, Residual, false>(s, random, 1);
  if (kind == 4) run_case<WithBias, Everything, false>(s, random, 2);
  if (kind == 5) run_case<NoBias, Everything, true>(s, random, 2);
}

}  // namespace

// matmul_test [cases]
int main(int count, char** arguments) {
  const int cases = count > 1 ? atoi(arguments[1]) : 700;
  Random random(1);
  for (int i = 0; i < cases; ++i) random_case(random);
  return cuvil::test::finish("matmul_test");
}
