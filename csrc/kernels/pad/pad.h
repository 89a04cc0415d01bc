// pad: a tensor with elements added around it (or, by negative pads, taken away).
//
// operands: input, output.
// extents:  R extents of the output, R of the input, R pads before each axis; output rows of a work item; R strides
//           of the input.
// Work items are blocks of output rows (the points of all axes but the last).
#ifndef CUVIL_KERNELS_PAD_PAD_H
#define CUVIL_KERNELS_PAD_PAD_H

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "kernels/loop/position.h"

namespace cuvil::kernels::pad {

enum class Mode { kConstant, kEdge, kReflect, kWrap };

// The input's index for an index of the output, or -1 where the constant belongs.
template <Mode kMode>
CUVIL_INLINE int64_t source(int64_t index, int64_t before, int64_t extent) {
  const int64_t i = index - before;
  if (i >= 0 && i < extent) return i;
  if constexpr (kMode == Mode::kConstant) {
    return -1;
  } else if constexpr (kMode == Mode::kEdge) {
    return i < 0 ? 0 : extent - 1;
  } else if constexpr (kMode == Mode::kWrap) {
    const int64_t rest = i % extent;
    return rest < 0 ? rest + extent : rest;
  } else {  // without repeating the edge; a single element is its own reflection
    if (extent == 1) return 0;
    const int64_t period = 2 * (extent - 1);
    const int64_t rest = (i % period + period) % period;
    return rest < extent ? rest : period - rest;
  }
}

template <class T>
CUVIL_INLINE void fill(T* y, int64_t n, T value) {
  for (int64_t i = 0; i < n; ++i) y[i] = value;
}

template <class T, Mode kMode>
CUVIL_INLINE void pad_row(const T* x, T* y, int64_t n, int64_t before, int64_t extent, T value) {
  const int64_t begin = before < 0 ? 0 : before < n ? before : n;
  const int64_t data_end = before + extent;
  const int64_t stop = data_end < begin ? begin : data_end < n ? data_end : n;
  if constexpr (kMode == Mode::kConstant) {
    fill(y, begin, value);
    fill(y + stop, n - stop, value);
  } else {
    for (int64_t i = 0; i < begin; ++i) y[i] = x[source<kMode>(i, before, extent)];
    for (int64_t i = stop; i < n; ++i) y[i] = x[source<kMode>(i, before, extent)];
  }
  if (stop > begin) __builtin_memcpy(y + begin, x + (begin - before), static_cast<size_t>(stop - begin) * sizeof(T));
}

// T: an unsigned integer of the element's size; `bits` is the constant.
template <class T, Mode kMode, int kRank>
cuvil_status run(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end, T bits) {
  constexpr int kOuter = kRank - 1;
  const int64_t* in = extents + kRank;
  const int64_t* before = extents + 2 * kRank;
  const int64_t rows_of_item = extents[3 * kRank];
  const int64_t* strides = extents + 3 * kRank + 1;
  const int64_t rows = product<kOuter>(extents), n = extents[kOuter];
  const int64_t last = end * rows_of_item < rows ? end * rows_of_item : rows;
  for (int64_t row = begin * rows_of_item; row < last; ++row) {
    int64_t offset = 0, rest = row;
    bool inside = true;
    for (int axis = kOuter - 1; axis >= 0; --axis) {
      const int64_t index = source<kMode>(rest % extents[axis], before[axis], in[axis]);
      rest /= extents[axis];
      inside = inside && index >= 0;
      offset += index * strides[axis];
    }
    T* y = static_cast<T*>(operands[1]) + row * n;
    if (inside) {
      pad_row<T, kMode>(static_cast<const T*>(operands[0]) + offset, y, n, before[kOuter], in[kOuter], bits);
    } else {
      fill(y, n, bits);
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::pad

#endif  // CUVIL_KERNELS_PAD_PAD_H
