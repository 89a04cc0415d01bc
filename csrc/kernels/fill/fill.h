// fill: tensors whose elements follow from their position alone.
#ifndef CUVIL_KERNELS_FILL_FILL_H
#define CUVIL_KERNELS_FILL_FILL_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "simd/math.h"

namespace cuvil::kernels::fill {

// The first elements of the output are the extents themselves. operands: output. extents: the values. One work item.
template <class T>
cuvil_status run_values(void* const* operands, const int64_t* extents, int64_t count) {
  T* y = static_cast<T*>(operands[0]);
  for (int64_t i = 0; i < count; ++i) y[i] = store<T>(cast<T>(extents[i]));
  return CUVIL_OK;
}

// y[i] = start + i * step. operands: output. extents: count, elements of a work item. Number: int64_t or double.
template <class T, class Number>
cuvil_status run_range(void* const* operands, const int64_t* extents, uint32_t begin, uint32_t end, Number start,
                       Number step) {
  T* y = static_cast<T*>(operands[0]);
  const int64_t last = end * extents[1] < extents[0] ? end * extents[1] : extents[0];
  for (int64_t i = begin * extents[1]; i < last; ++i) {
    y[i] = store<T>(cast<T>(math::add(start, math::mul(static_cast<Number>(i), step))));
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::fill

#endif  // CUVIL_KERNELS_FILL_FILL_H
