// loop: one scalar expression over a strided iteration space: element-wise operations with broadcasting, casts and
// selections, and, where the expression is the identity, movements of data (slices, parts of concatenations, repeats).
//
// operands: the inputs of the expression in order, then the output.
// extents:  [0, R) extents of the iteration space; [R] rows of a work item; [R + 1] columns of a work item; then for
//           each operand R strides in elements (0 repeats, negative walks backwards).
// A row is the innermost axis; rows are the points of the other axes in row-major order. Work items are blocks of rows
// times blocks of columns, columns innermost: ceil(rows / [R]) * ceil(columns / [R + 1]).
// The output may be the same memory as an input that is walked with the same strides.
#ifndef CUVIL_KERNELS_LOOP_LOOP_H
#define CUVIL_KERNELS_LOOP_LOOP_H

#include <utility>

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "kernels/loop/position.h"
#include "simd/simd.h"

namespace cuvil::kernels::loop {

// How the innermost axis walks an operand.
enum class Walk { kRepeat, kContiguous, kStrided };

// Expressions are types like this; `apply` is given the inputs as Value<T> (V = float) or as vectors (V = simd::F32).
//   struct Expression {
//     static constexpr bool kVector = ...;  // evaluate on vectors: every T is float or Bool
//     template <class V> static auto apply(a0, a1, ...);
//   };
struct Identity {
  static constexpr bool kVector = false;
  template <class V, class A>
  static CUVIL_INLINE A apply(A a) {
    return a;
  }
};

template <class T, Walk kWalk>
struct Operand {
  using Element = T;
  static constexpr bool kIsBool = std::is_same_v<std::remove_const_t<T>, Bool>;
  using Vector = std::conditional_t<kIsBool, simd::Mask, simd::F32>;
  using Plain = std::conditional_t<kIsBool, uint8_t, std::remove_const_t<T>>;
  static constexpr Walk kInner = kWalk;

  T* base;
  ptrdiff_t step;

  CUVIL_INLINE T& element(int64_t i) const {
    if constexpr (kWalk == Walk::kContiguous) return base[i];
    return base[i * step];
  }
  CUVIL_INLINE const Plain* at(int64_t i) const { return reinterpret_cast<const Plain*>(&element(i)); }

  CUVIL_INLINE Vector vector(int64_t i) const {
    if constexpr (kWalk == Walk::kContiguous) {
      return Vector::load(at(i));
    } else if constexpr (kIsBool) {
      return vector_partial(i, simd::kLanes);
    } else {
      return Vector::load_strided(at(i), step);
    }
  }
  CUVIL_INLINE Vector vector_partial(int64_t i, int n) const {
    if constexpr (kWalk == Walk::kContiguous) {
      return Vector::load_partial(at(i), n);
    } else if constexpr (kIsBool) {
      uint8_t bytes[simd::kLanes] = {};
      for (int k = 0; k < n; ++k) bytes[k] = element(i + k).byte;
      return Vector::load_partial(bytes, n);
    } else {
      return Vector::load_strided_partial(at(i), step, n);
    }
  }
  CUVIL_INLINE void write(int64_t i, Vector value) const {
    if constexpr (kWalk == Walk::kContiguous) {
      value.store(const_cast<Plain*>(at(i)));
    } else {
      write_partial(i, simd::kLanes, value);
    }
  }
  CUVIL_INLINE void write_partial(int64_t i, int n, Vector value) const {
    if constexpr (kWalk == Walk::kContiguous) {
      value.store_partial(const_cast<Plain*>(at(i)), n);
    } else if constexpr (kIsBool) {
      uint8_t bytes[simd::kLanes];
      value.store(bytes);
      for (int k = 0; k < n; ++k) element(i + k).byte = bytes[k];
    } else {
      value.store_strided_partial(const_cast<Plain*>(at(i)), step, n);
    }
  }
};

// An input that repeats one element, read once for each row: the compiler cannot know that the output is elsewhere.
template <class T>
struct Operand<T, Walk::kRepeat> {
  using Element = T;
  using Vector = typename Operand<T, Walk::kContiguous>::Vector;
  static constexpr Walk kInner = Walk::kRepeat;

  std::remove_const_t<T> value;

  CUVIL_INLINE Operand(T* base, ptrdiff_t) : value(*base) {}
  CUVIL_INLINE const T& element(int64_t) const { return value; }
  CUVIL_INLINE Vector vector(int64_t) const { return Vector::splat(load(value)); }
  CUVIL_INLINE Vector vector_partial(int64_t, int) const { return vector(0); }
};

template <class Expression, class Out, class... In>
CUVIL_INLINE void vector_row(int64_t n, Out out, In... in) {
  using V = simd::F32;
  int64_t i = 0;
  for (; i + simd::kLanes <= n; i += simd::kLanes) out.write(i, Expression::template apply<V>(in.vector(i)...));
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    out.write_partial(i, rest, Expression::template apply<V>(in.vector_partial(i, rest)...));
  }
}

template <class Expression, class Out, class... In>
CUVIL_INLINE void plain_row(int64_t n, Out out, In... in) {
  CUVIL_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    out.element(i) = store<typename Out::Element>(Expression::template apply<float>(load(in.element(i))...));
  }
}

template <class Out, class In>
CUVIL_INLINE void copy_row(int64_t n, Out out, In in) {
  constexpr int64_t kCallWorthBytes = 128;
  const int64_t bytes = n * static_cast<int64_t>(sizeof(typename Out::Element));
  if (bytes >= kCallWorthBytes) {
    __builtin_memcpy(out.base, in.base, static_cast<size_t>(bytes));
  } else {
    plain_row<Identity>(n, out, in);
  }
}

template <class Expression, class Out, class... In>
CUVIL_INLINE void row(int64_t n, Out out, In... in) {
  if constexpr (std::is_same_v<Expression, Identity> && Out::kInner == Walk::kContiguous &&
                ((In::kInner == Walk::kContiguous) && ...)) {
    copy_row(n, out, in...);
  } else if constexpr (Expression::kVector) {
    vector_row<Expression>(n, out, in...);
  } else {
    plain_row<Expression>(n, out, in...);
  }
}

// In front of an operand's element type: how its innermost axis is walked.
template <class T, Walk kWalk>
struct Typed {};

template <class Expression, int kRank, class Out, Walk kOutWalk, class... In, Walk... kInWalk, size_t... I>
CUVIL_INLINE void run_rows(void* const* operands, const int64_t* extents, uint32_t begin, uint32_t end,
                           Typed<Out, kOutWalk>, std::index_sequence<I...>, Typed<In, kInWalk>...) {
  constexpr int kInputs = static_cast<int>(sizeof...(In));
  constexpr int kOuter = kRank - 1;
  const int64_t columns = extents[kRank - 1];
  const int64_t rows_of_item = extents[kRank], columns_of_item = extents[kRank + 1];
  const int64_t* strides = extents + kRank + 2;
  const int64_t rows = product<kOuter>(extents);
  const int64_t column_blocks = (columns + columns_of_item - 1) / columns_of_item;

  Position<kOuter, kInputs + 1> position{extents,
                                         {(strides + static_cast<int64_t>(I) * kRank)..., strides + kInputs * kRank}};
  const ptrdiff_t step[kInputs + 1] = {strides[static_cast<int64_t>(I) * kRank + kOuter]...,
                                       strides[kInputs * kRank + kOuter]};
  for (uint32_t item = begin; item < end; ++item) {
    const int64_t first_row = item / column_blocks * rows_of_item;
    const int64_t first_column = item % column_blocks * columns_of_item;
    const int64_t last_row = first_row + rows_of_item < rows ? first_row + rows_of_item : rows;
    const int64_t count = columns - first_column < columns_of_item ? columns - first_column : columns_of_item;
    position.seek(first_row);
    for (int64_t r = first_row; r < last_row; ++r) {
      row<Expression>(
          count,
          Operand<Out, kOutWalk>{
              static_cast<Out*>(operands[kInputs]) + position.offset[kInputs] + first_column * step[kInputs],
              step[kInputs]},
          Operand<const In, kInWalk>{static_cast<const In*>(operands[I]) + position.offset[I] + first_column * step[I],
                                     step[I]}...);
      position.advance();
    }
  }
}

// The kernel: Out and In... are Typed<T, Walk>.
template <class Expression, int kRank, class Out, class... In>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  run_rows<Expression, kRank>(operands, extents, begin, end, Out{}, std::index_sequence_for<In...>{}, In{}...);
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::loop

#endif  // CUVIL_KERNELS_LOOP_LOOP_H
