// Matrix product, f32, batched: out[batch, m, n] = epilogue(bias[n] + sum over k of a[batch, m, k] * b[batch, k, n]).
//
// Operands: a, b, bias (any pointer if T::kHasBias is false), out, then those of the epilogue (kernels/epilogue.h),
// whose rows are counted over all batches: batch * rows + m.
//   a     numbers a_row_stride apart from row to row and a_depth_stride from k to k (1, or a is stored transposed)
//   b     packed by the compiler (kPackedB), for each batch [panel][k][columns of the panel] as in
//   kernels/matmul/tile.h;
//         or a tensor, b_depth_stride apart from k to k and b_column_stride from column to column (one of them 1),
//         which is packed into scratch
//   bias  round_up(columns, lanes) numbers
//   out   rows out_row_stride apart, batch after batch
//
// Extents: the fields of Problem in order; for each of batch_rank axes, outermost first, its extent and the strides of
// a and b along it in elements (of packed b: in packed elements), 0 where they broadcast; those of the epilogue.
//
// Work items: batches * ceil(panels / block_panels) * ceil(rows / block_rows), the row blocks running fastest.
// Scratch: pointers to a's rows, copies of them if copy_rows, and a panel of b unless it is packed; the formula is in
// cuvil_edge/kernels/templates/matmul.py.
#ifndef CUVIL_KERNELS_MATMUL_MATMUL_H
#define CUVIL_KERNELS_MATMUL_MATMUL_H

#include "abi/cuvil_abi.h"
#include "kernels/matmul/tile.h"

namespace cuvil::kernels::matmul {

struct Problem {
  int64_t rows, depth, columns;
  int64_t a_row_stride, a_depth_stride, b_depth_stride, b_column_stride, out_row_stride;
  int64_t copy_rows;  // 1: copy a's rows to scratch first: if a_depth_stride is not 1, or if rows collide
                      // in the cache's sets
  int64_t block_rows, block_panels;  // the schedule: rows and panels of one work item
  int64_t batch_rank;
};
inline constexpr int kProblemExtents = sizeof(Problem) / sizeof(int64_t);

CUVIL_INLINE int64_t round_up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

// Elements between copied rows: an odd number of cache lines mostly, so that copies do not collide.
CUVIL_INLINE int64_t copy_stride(int64_t depth) { return round_up(depth, 16) + 16; }

// Rows [first, first + count) of a as pointers in tiles, copied to scratch where asked.
template <class T>
void prepare_rows(const Problem& p, const float* a, int64_t first, int64_t count, const float** rows, float* copies) {
  const int64_t stride = copy_stride(p.depth);
  if (p.copy_rows != 0 && p.a_depth_stride != 1) {
    // Stored transposed: squares of lanes x lanes, read along a's rows.
    for (int64_t r = 0; r < count; r += kLanes) {
      const int n = count - r < kLanes ? static_cast<int>(count - r) : kLanes;
      for (int64_t k = 0; k < p.depth; k += kLanes) {
        const int depth = p.depth - k < kLanes ? static_cast<int>(p.depth - k) : kLanes;
        F32 square[kLanes];
        for (int i = 0; i < kLanes; ++i) {
          const float* from = a + (first + r) * p.a_row_stride + (k + i) * p.a_depth_stride;
          square[i] = i < depth ? F32::load_partial(from, n) : F32::zero();
        }
        transpose(square);
        for (int i = 0; i < n; ++i) square[i].store(copies + (r + i) * stride + k);
      }
    }
  } else if (p.copy_rows != 0) {
    for (int64_t r = 0; r < count; ++r) {
      __builtin_memcpy(copies + r * stride, a + (first + r) * p.a_row_stride, static_cast<size_t>(p.depth) * 4);
    }
  }
  const int64_t padded = round_up(count, T::kRows);
  for (int64_t r = 0; r < padded; ++r) {
    const int64_t row = r < count ? r : count - 1;
    rows[r] = p.copy_rows != 0 ? copies + row * stride : a + (first + row) * p.a_row_stride;
  }
}

// Columns [column, column + n) of b as a packed panel of `vectors` vectors.
inline void pack_panel(const Problem& p, const float* b, int64_t column, int64_t n, int64_t vectors, float* panel) {
  const float* from = b + column * p.b_column_stride;
  for (int64_t v = 0; v < vectors; ++v, from += kLanes * p.b_column_stride) {
    const int lanes = n - v * kLanes < kLanes ? static_cast<int>(n - v * kLanes) : kLanes;
    float* to = panel + v * kLanes;
    if (p.b_column_stride == 1) {
      for (int64_t k = 0; k < p.depth; ++k, to += vectors * kLanes) {
        const float* row = from + k * p.b_depth_stride;
        (lanes == kLanes ? F32::load(row) : F32::load_partial(row, lanes)).store(to);
      }
      continue;
    }
    for (int64_t k = 0; k < p.depth; k += kLanes) {
      const int depth = p.depth - k < kLanes ? static_cast<int>(p.depth - k) : kLanes;
      F32 square[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        const float* row = from + i * p.b_column_stride + k * p.b_depth_stride;
        square[i] = i < lanes ? F32::load_partial(row, depth) : F32::zero();
      }
      transpose(square);
      for (int i = 0; i < depth; ++i, to += vectors * kLanes) square[i].store(to);
    }
  }
}

// The kernel: T is a Tiling.
template <class T, class Epilogue, bool kPackedB>
cuvil_status run(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin, uint32_t end) {
  const Problem& p = *reinterpret_cast<const Problem*>(extents);
  const int64_t* axes = extents + kProblemExtents;
  const EpilogueOperands<Epilogue> epilogue(operands + 4, axes + 3 * p.batch_rank);

  const int64_t row_blocks = (p.rows + p.block_rows - 1) / p.block_rows;
  const int64_t vectors = (p.columns + kLanes - 1) / kLanes;
  const int64_t panels = (vectors + T::kVectors - 1) / T::kVectors;
  const int64_t panel_groups = (panels + p.block_panels - 1) / p.block_panels;

  const float** rows = static_cast<const float**>(scratch);
  float* panel = reinterpret_cast<float*>(rows + round_up(round_up(p.block_rows, T::kRows), 8));
  float* copies = panel + (kPackedB ? 0 : p.depth * T::kColumns);

  for (uint32_t item = begin; item < end; ++item) {
    const int64_t block = item % row_blocks, rest = item / row_blocks;
    const int64_t group = rest % panel_groups, batch = rest / panel_groups;
    const float* a = static_cast<const float*>(operands[0]);
    const float* b = static_cast<const float*>(operands[1]);
    int64_t index = batch;
    for (int64_t axis = p.batch_rank - 1; axis >= 0; --axis) {
      a += index % axes[3 * axis] * axes[3 * axis + 1];
      b += index % axes[3 * axis] * axes[3 * axis + 2];
      index /= axes[3 * axis];
    }
    const int64_t first = block * p.block_rows;
    const int64_t count = p.rows - first < p.block_rows ? p.rows - first : p.block_rows;
    prepare_rows<T>(p, a, first, count, rows, copies);
    const Destination<Epilogue> to{static_cast<float*>(operands[3]),
                                   p.out_row_stride,
                                   p.columns,
                                   0,
                                   static_cast<const float*>(operands[2]),
                                   nullptr,
                                   batch * p.rows + first,
                                   epilogue};
    const int64_t last = (group + 1) * p.block_panels < panels ? (group + 1) * p.block_panels : panels;
    for (int64_t i = group * p.block_panels; i < last; ++i) {
      const int64_t column = i * T::kColumns;
      const float* packed = b + column * p.depth;
      if constexpr (!kPackedB) {
        const int64_t n = p.columns - column < T::kColumns ? p.columns - column : T::kColumns;
        pack_panel(p, b, column, n, (n + kLanes - 1) / kLanes, panel);
        packed = panel;
      }
      multiply_panel<T, Epilogue>(to, rows, 1, p.depth, packed, count, column);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::matmul

#endif  // CUVIL_KERNELS_MATMUL_MATMUL_H
