// The position of several strided operands while the axes that they share are walked in row-major order.
#ifndef CUVIL_KERNELS_LOOP_POSITION_H
#define CUVIL_KERNELS_LOOP_POSITION_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/element.h"

namespace cuvil::kernels {

template <int kCount>
CUVIL_INLINE int64_t product(const int64_t* extents) {
  int64_t result = 1;
  for (int i = 0; i < kCount; ++i) result *= extents[i];
  return result;
}

template <int kAxes, int kOperands>
struct Position {
  const int64_t* extents;             // kAxes
  const int64_t* strides[kOperands];  // kAxes each, in elements
  int64_t index[kAxes == 0 ? 1 : kAxes] = {};
  int64_t offset[kOperands] = {};  // in elements, of each operand

  // To the point with this number; all extents must be positive.
  CUVIL_INLINE void seek(int64_t point) {
    for (int o = 0; o < kOperands; ++o) offset[o] = 0;
    for (int axis = kAxes - 1; axis >= 0; --axis) {
      index[axis] = point % extents[axis];
      point /= extents[axis];
      for (int o = 0; o < kOperands; ++o) offset[o] += index[axis] * strides[o][axis];
    }
  }
  CUVIL_INLINE void advance() {
    for (int axis = kAxes - 1; axis >= 0; --axis) {
      for (int o = 0; o < kOperands; ++o) offset[o] += strides[o][axis];
      if (++index[axis] < extents[axis]) return;
      index[axis] = 0;
      for (int o = 0; o < kOperands; ++o) offset[o] -= strides[o][axis] * extents[axis];
    }
  }
};

}  // namespace cuvil::kernels

#endif  // CUVIL_KERNELS_LOOP_POSITION_H
