// Matrix product of element types that have no vector kernel: integers (wrapping), f64, and f16 and bf16 summed as f32.
//
//   out[batch, m, n] = bias[n] + sum over k of a[batch, m, k] * b[batch, k, n]
//
// Operands: a, b, bias (any pointer if kHasBias is false), out. Extents: the fields of PlainProblem, then for each of
// batch_rank axes, outermost first, its extent and the strides of a and b along it in elements, 0 where they broadcast.
// Work items: batches * ceil(rows / block_rows). No scratch.
#ifndef CUVIL_KERNELS_MATMUL_PLAIN_H
#define CUVIL_KERNELS_MATMUL_PLAIN_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"

namespace cuvil::kernels::matmul {

struct PlainProblem {
  int64_t rows, depth, columns;
  int64_t a_row_stride, a_depth_stride, b_depth_stride, b_column_stride;
  int64_t block_rows, batch_rank;
};

// What products are summed as: unsigned for integers, because signed overflow is undefined.
template <class T>
using Sum =
    std::conditional_t<std::is_integral_v<Value<T>>, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, Value<T>>;

template <class T, bool kHasBias>
void plain_row(const PlainProblem& p, const T* a, const T* b, const T* bias, T* out) {
  constexpr int kColumns = 16;
  for (int64_t first = 0; first < p.columns; first += kColumns) {
    const int count = p.columns - first < kColumns ? static_cast<int>(p.columns - first) : kColumns;
    Sum<T> sum[kColumns] = {};
    if constexpr (kHasBias) {
      for (int c = 0; c < count; ++c) sum[c] = static_cast<Sum<T>>(load(bias[first + c]));
    }
    const T* columns = b + first * p.b_column_stride;
    for (int64_t k = 0; k < p.depth; ++k, columns += p.b_depth_stride) {
      const Sum<T> x = static_cast<Sum<T>>(load(a[k * p.a_depth_stride]));
      for (int c = 0; c < count; ++c) sum[c] += x * static_cast<Sum<T>>(load(columns[c * p.b_column_stride]));
    }
    for (int c = 0; c < count; ++c) out[first + c] = store<T>(static_cast<Value<T>>(sum[c]));
  }
}

template <class T, bool kHasBias>
cuvil_status run_plain(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const PlainProblem& p = *reinterpret_cast<const PlainProblem*>(extents);
  const int64_t* axes = extents + sizeof(PlainProblem) / sizeof(int64_t);
  const int64_t row_blocks = (p.rows + p.block_rows - 1) / p.block_rows;
  for (uint32_t item = begin; item < end; ++item) {
    const T* a = static_cast<const T*>(operands[0]);
    const T* b = static_cast<const T*>(operands[1]);
    const int64_t batch = item / row_blocks, first = item % row_blocks * p.block_rows;
    int64_t index = batch;
    for (int64_t axis = p.batch_rank - 1; axis >= 0; --axis) {
      a += index % axes[3 * axis] * axes[3 * axis + 1];
      b += index % axes[3 * axis] * axes[3 * axis + 2];
      index /= axes[3 * axis];
    }
    T* out = static_cast<T*>(operands[3]) + batch * p.rows * p.columns;
    const int64_t last = first + p.block_rows < p.rows ? first + p.block_rows : p.rows;
    for (int64_t m = first; m < last; ++m) {
      plain_row<T, kHasBias>(p, a + m * p.a_row_stride, b, static_cast<const T*>(operands[2]), out + m * p.columns);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::matmul

#endif  // CUVIL_KERNELS_MATMUL_PLAIN_H
