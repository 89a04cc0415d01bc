// reduce: sum, mean, maximum, minimum or product of a dense tensor over some of its axes.
//
// Axes are merged until kept and reduced ones alternate. Two forms:
//   rows:    the last axis is reduced. Each kept point is reduced over K reduced axes and then over contiguous
//   elements. columns: the last axis is kept (the columns, contiguous). They are reduced side by side over the reduced
//   axes.
// operands: input, output (dense over the kept axes).
// extents:  P extents of kept axes (without the columns), Q of reduced axes (without the contiguous one), length of the
//           last axis, number of elements reduced into one; kept points and columns of a work item; P strides of kept
//           axes in the input, Q of reduced axes.
// Work items are blocks of kept points times blocks of columns (rows: one), columns innermost.
//
// Sums of f32 are kept in several short partial sums that are then added up, so that errors grow with the square root
// of the length or better. Maxima and minima of anything and NaN are NaN.
#ifndef CUVIL_KERNELS_REDUCE_REDUCE_H
#define CUVIL_KERNELS_REDUCE_REDUCE_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "kernels/loop/position.h"
#include "simd/math.h"

namespace cuvil::kernels::reduce {

template <class T>
CUVIL_INLINE T lowest() {
  if constexpr (std::is_floating_point_v<T>) return -static_cast<T>(__builtin_inf());
  if constexpr (std::is_same_v<T, bool>) return false;
  if constexpr (std::is_unsigned_v<T>) return 0;
  return static_cast<T>(uint64_t{1} << (8 * sizeof(T) - 1));
}

template <class T>
CUVIL_INLINE T highest() {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(__builtin_inf());
  if constexpr (std::is_same_v<T, bool>) return true;
  return static_cast<T>(~static_cast<uint64_t>(lowest<T>()));
}

// Each reduction: its accumulator for values of type T, the neutral element, and the combination of two accumulators;
// `finish` makes the result. `lanes` combines the lanes of a vector.
struct Sum {
  template <class T>
  using Accumulator = T;
  template <class T>
  static CUVIL_INLINE T neutral() {
    return math::constant<T>(0);
  }
  template <class T>
  static CUVIL_INLINE T combine(T a, T b) {
    return math::add(a, b);
  }
  template <class T>
  static CUVIL_INLINE T finish(T total, int64_t) {
    return total;
  }
  static CUVIL_INLINE float lanes(simd::F32 v) { return reduce_add(v); }
};

struct Mean : Sum {
  template <class T>
  using Accumulator = std::conditional_t<std::is_integral_v<T>, int64_t, T>;
  template <class T>
  static CUVIL_INLINE T finish(T total, int64_t count) {
    if constexpr (math::is_integer<T>) return math::div(total, static_cast<T>(count));
    if constexpr (simd::FloatVector<T>) return total / T::splat(static_cast<float>(count));
    if constexpr (math::is_real<T>) return total / static_cast<T>(count);
  }
};

struct Prod {
  template <class T>
  using Accumulator = T;
  template <class T>
  static CUVIL_INLINE T neutral() {
    return math::constant<T>(1);
  }
  template <class T>
  static CUVIL_INLINE T combine(T a, T b) {
    return math::mul(a, b);
  }
  template <class T>
  static CUVIL_INLINE T finish(T total, int64_t) {
    return total;
  }
  static CUVIL_INLINE float lanes(simd::F32 v) {
    float lane[simd::kLanes], result = 1;
    v.store(lane);
    for (float x : lane) result *= x;
    return result;
  }
};

struct Max {
  template <class T>
  using Accumulator = T;
  template <class T>
  static CUVIL_INLINE T neutral() {
    if constexpr (simd::FloatVector<T>)
      return T::splat(lowest<float>());
    else
      return lowest<T>();
  }
  template <class T>
  static CUVIL_INLINE T combine(T a, T b) {
    return math::max(a, b);
  }
  template <class T>
  static CUVIL_INLINE T finish(T total, int64_t) {
    return total;
  }
  static CUVIL_INLINE float lanes(simd::F32 v) { return reduce_max(v); }
};

struct Min {
  template <class T>
  using Accumulator = T;
  template <class T>
  static CUVIL_INLINE T neutral() {
    if constexpr (simd::FloatVector<T>)
      return T::splat(highest<float>());
    else
      return highest<T>();
  }
  template <class T>
  static CUVIL_INLINE T combine(T a, T b) {
    return math::min(a, b);
  }
  template <class T>
  static CUVIL_INLINE T finish(T total, int64_t) {
    return total;
  }
  static CUVIL_INLINE float lanes(simd::F32 v) { return reduce_min(v); }
};

// --- rows ---

inline constexpr int kChains = 4;     // independent accumulators, to cover the latency of an addition
inline constexpr int kShortSum = 32;  // steps of a partial sum

// All of one contiguous row, lane by lane, into `total`.
template <class Op>
CUVIL_INLINE simd::F32 add_row(simd::F32 total, const float* x, int64_t n) {
  using V = simd::F32;
  constexpr int64_t kStep = kChains * V::kLanes;
  int64_t i = 0;
  while (i + kStep <= n) {
    const int64_t stop = n - i < kShortSum * kStep ? n - kStep + 1 : i + kShortSum * kStep;
    V partial[kChains];
    for (V& p : partial) p = Op::template neutral<V>();
    for (; i < stop; i += kStep) {
      for (int c = 0; c < kChains; ++c) partial[c] = Op::combine(partial[c], V::load(x + i + c * V::kLanes));
    }
    total = Op::combine(total, Op::combine(Op::combine(partial[0], partial[1]), Op::combine(partial[2], partial[3])));
  }
  for (; i + V::kLanes <= n; i += V::kLanes) total = Op::combine(total, V::load(x + i));
  if (const int rest = static_cast<int>(n - i); rest > 0) {
    const V tail = select(simd::Mask::first(rest), V::load_partial(x + i, rest), Op::template neutral<V>());
    total = Op::combine(total, tail);
  }
  return total;
}

template <class Op, class T, int kReduced>
CUVIL_INLINE T reduce_point(const T* x, int64_t n, Position<kReduced, 1> position, int64_t outer, int64_t count) {
  position.seek(0);
  if constexpr (std::is_same_v<T, float>) {
    simd::F32 total = Op::template neutral<simd::F32>();
    for (int64_t r = 0; r < outer; ++r, position.advance()) total = add_row<Op>(total, x + position.offset[0], n);
    return Op::finish(Op::lanes(total), count);
  } else {
    using Total = typename Op::template Accumulator<Value<T>>;
    Total total = Op::template neutral<Total>();
    for (int64_t r = 0; r < outer; ++r, position.advance()) {
      const T* row = x + position.offset[0];
      for (int64_t i = 0; i < n; ++i) total = Op::combine(total, static_cast<Total>(load(row[i])));
    }
    return store<T>(static_cast<Value<T>>(Op::finish(total, count)));
  }
}

template <class Op, class T, int kKept, int kReduced>
cuvil_status run_rows(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const int64_t* reduced = extents + kKept;
  const int64_t n = reduced[kReduced], count = reduced[kReduced + 1], points_of_item = reduced[kReduced + 2];
  const int64_t* strides = reduced + kReduced + 4;
  const int64_t points = product<kKept>(extents), outer = product<kReduced>(reduced);
  const T* x = static_cast<const T*>(operands[0]);
  T* y = static_cast<T*>(operands[1]);
  const int64_t first = begin * points_of_item;
  const int64_t last = end * points_of_item < points ? end * points_of_item : points;
  Position<kKept, 1> kept{extents, {strides}};
  const Position<kReduced, 1> inner{reduced, {strides + kKept}};
  kept.seek(first);
  for (int64_t p = first; p < last; ++p, kept.advance()) {
    y[p] = reduce_point<Op, T>(x + kept.offset[0], n, inner, outer, count);
  }
  return CUVIL_OK;
}

// --- columns ---

// kVectors vectors of columns (the last one of `rest` lanes, if rest > 0). Few columns take several rows at a time, so
// that there are always kChains independent accumulators.
template <class Op, int kVectors, bool kFull, int kReduced>
CUVIL_INLINE void reduce_vectors(const float* x, float* y, int rest, Position<kReduced, 1> position, int64_t outer,
                                 int64_t count) {
  using V = simd::F32;
  constexpr int kRows = kChains / kVectors;
  V total[kVectors];
  for (V& t : total) t = Op::template neutral<V>();
  const auto add_next_row = [&](V * accumulators) __attribute__((always_inline)) {
    const float* p = x + position.offset[0];
    for (int v = 0; v < kVectors; ++v) {
      const V element = kFull ? V::load(p + v * V::kLanes) : V::load_partial(p, rest);
      accumulators[v] = Op::combine(accumulators[v], element);
    }
    position.advance();
  };
  position.seek(0);
  for (int64_t r = 0; r < outer;) {
    V partial[kChains];
    for (V& p : partial) p = Op::template neutral<V>();
    const int64_t stop = outer - r < kShortSum * kRows ? outer : r + kShortSum * kRows;
    for (; r + kRows <= stop; r += kRows) {
      for (int i = 0; i < kRows; ++i) add_next_row(partial + i * kVectors);
    }
    for (; r < stop; ++r) add_next_row(partial);
    for (int i = 0; i < kChains; ++i) total[i % kVectors] = Op::combine(total[i % kVectors], partial[i]);
  }
  for (int v = 0; v < kVectors; ++v) {
    const V result = Op::finish(total[v], count);
    if constexpr (kFull) {
      result.store(y + v * V::kLanes);
    } else {
      result.store_partial(y, rest);
    }
  }
}

template <class Op, int kReduced>
CUVIL_INLINE void reduce_columns(const float* x, float* y, int64_t columns, const Position<kReduced, 1>& position,
                                 int64_t outer, int64_t count) {
  constexpr int64_t kLanes = simd::kLanes;
  int64_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
    reduce_vectors<Op, 4, true>(x + c, y + c, 0, position, outer, count);
  }
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) {
    reduce_vectors<Op, 2, true>(x + c, y + c, 0, position, outer, count);
  }
  for (; c + kLanes <= columns; c += kLanes) reduce_vectors<Op, 1, true>(x + c, y + c, 0, position, outer, count);
  if (const int rest = static_cast<int>(columns - c); rest > 0) {
    reduce_vectors<Op, 1, false>(x + c, y + c, rest, position, outer, count);
  }
}

template <class Op, class T, int kReduced>
CUVIL_INLINE void reduce_columns(const T* x, T* y, int64_t columns, Position<kReduced, 1> position, int64_t outer,
                                 int64_t count) {
  using Total = typename Op::template Accumulator<Value<T>>;
  constexpr int kBlock = 64;
  for (int64_t c = 0; c < columns; c += kBlock) {
    const int n = columns - c < kBlock ? static_cast<int>(columns - c) : kBlock;
    Total total[kBlock];
    for (Total& t : total) t = Op::template neutral<Total>();
    position.seek(0);
    for (int64_t r = 0; r < outer; ++r, position.advance()) {
      const T* row = x + position.offset[0] + c;
      for (int i = 0; i < n; ++i) total[i] = Op::combine(total[i], static_cast<Total>(load(row[i])));
    }
    for (int i = 0; i < n; ++i) y[c + i] = store<T>(static_cast<Value<T>>(Op::finish(total[i], count)));
  }
}

template <class Op, class T, int kKept, int kReduced>
cuvil_status run_columns(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const int64_t* reduced = extents + kKept;
  const int64_t columns = reduced[kReduced], count = reduced[kReduced + 1];
  const int64_t points_of_item = reduced[kReduced + 2], columns_of_item = reduced[kReduced + 3];
  const int64_t* strides = reduced + kReduced + 4;
  const int64_t points = product<kKept>(extents), outer = product<kReduced>(reduced);
  const int64_t column_blocks = (columns + columns_of_item - 1) / columns_of_item;
  Position<kKept, 1> kept{extents, {strides}};
  const Position<kReduced, 1> inner{reduced, {strides + kKept}};
  for (uint32_t item = begin; item < end; ++item) {
    const int64_t c = item % column_blocks * columns_of_item, first = item / column_blocks * points_of_item;
    const int64_t n = columns - c < columns_of_item ? columns - c : columns_of_item;
    const int64_t last = first + points_of_item < points ? first + points_of_item : points;
    kept.seek(first);
    for (int64_t p = first; p < last; ++p, kept.advance()) {
      const T* x = static_cast<const T*>(operands[0]) + kept.offset[0] + c;
      T* y = static_cast<T*>(operands[1]) + p * columns + c;
      reduce_columns<Op>(x, y, n, inner, outer, count);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::reduce

#endif  // CUVIL_KERNELS_REDUCE_REDUCE_H
