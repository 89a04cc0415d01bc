// gather: slices of a dense tensor chosen by indices along one axis. A negative index counts from the end.
//
//   y[o, k, i] = x[o, index[k], i]
//
// operands: x [outer, axis, inner], indices, y [outer, count, inner].
// extents:  outer, axis, inner, count, points of a work item.
// Work items are blocks of the outer * count points. CUVIL_BAD_INDEX if an index is outside [-axis, axis).
#ifndef CUVIL_KERNELS_GATHER_GATHER_H
#define CUVIL_KERNELS_GATHER_GATHER_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"

namespace cuvil::kernels::gather {

// The index counted from the start, or -1 if it is outside the axis.
template <class Index>
CUVIL_INLINE int64_t resolve(Index index, int64_t extent) {
  const int64_t i = static_cast<int64_t>(index);
  const int64_t from_start = i < 0 ? i + extent : i;
  return from_start >= 0 && from_start < extent ? from_start : -1;
}

template <class T>
CUVIL_INLINE void copy(const T* from, T* to, int64_t n) {
  constexpr int64_t kCallWorthBytes = 64;
  if (n * static_cast<int64_t>(sizeof(T)) >= kCallWorthBytes) {
    __builtin_memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

// T: an unsigned integer of the element's size.
template <class T, class Index>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  const int64_t outer = extents[0], axis = extents[1], inner = extents[2], count = extents[3];
  const int64_t points_of_item = extents[4], points = outer * count;
  const T* x = static_cast<const T*>(operands[0]);
  const Index* indices = static_cast<const Index*>(operands[1]);
  T* y = static_cast<T*>(operands[2]);
  const int64_t first = begin * points_of_item;
  const int64_t last = end * points_of_item < points ? end * points_of_item : points;
  for (int64_t point = first; point < last;) {
    const int64_t o = point / count, begin_k = point - o * count;
    const int64_t end_k = count - begin_k < last - point ? count : begin_k + (last - point);
    const T* from = x + o * axis * inner;
    T* to = y + point * inner;
    for (int64_t k = begin_k; k < end_k; ++k, to += inner) {
      const int64_t index = resolve(indices[k], axis);
      if (index < 0) return CUVIL_BAD_INDEX;
      if (inner == 1) {
        *to = from[index];
      } else {
        copy(from + index * inner, to, inner);
      }
    }
    point += end_k - begin_k;
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::gather

#endif  // CUVIL_KERNELS_GATHER_GATHER_H
