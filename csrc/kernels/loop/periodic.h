// periodic: the loop of loop.h where some inputs repeat a short run of elements along the innermost axis, such as a
// bias for few channels. The run is laid out several times in scratch, so that rows are long whatever its length.
//
// operands, extents and work items: as for loop.h, then one more extent: the length of the run, of which the columns of
// a work item are a multiple. The strides of a periodic input on the innermost axis are not used. scratch:  kTileBytes
// for each input.
#ifndef CUVIL_KERNELS_LOOP_PERIODIC_H
#define CUVIL_KERNELS_LOOP_PERIODIC_H

#include "kernels/loop/loop.h"

namespace cuvil::kernels::loop {

inline constexpr int64_t kTileElements = 512;  // at least this many, and less than one run more
inline constexpr int64_t kTileBytes = 8192;    // for runs of at most kTileElements elements of 8 bytes

// An input that repeats its first `period` elements.
template <class T>
struct Periodic {};

template <class In>
struct Source;

template <class T, Walk kWalk>
struct Source<Typed<T, kWalk>> {
  const T* base;
  ptrdiff_t step;

  CUVIL_INLINE Source(const void* operand, ptrdiff_t inner_stride, void*)
      : base(static_cast<const T*>(operand)), step(inner_stride) {}
  CUVIL_INLINE void prepare(int64_t, int64_t, int64_t) {}
  CUVIL_INLINE Operand<const T, kWalk> at(int64_t offset, int64_t column) const {
    return {base + offset + column * step, step};
  }
};

template <class T>
struct Source<Periodic<T>> {
  const T* base;
  T* tile;
  int64_t filled = INT64_MIN;  // the offset whose elements the tile holds

  CUVIL_INLINE Source(const void* operand, ptrdiff_t, void* scratch)
      : base(static_cast<const T*>(operand)), tile(static_cast<T*>(scratch)) {}
  CUVIL_INLINE void prepare(int64_t offset, int64_t period, int64_t elements) {
    if (offset == filled) return;
    filled = offset;
    for (int64_t i = 0; i < elements; i += period) {
      for (int64_t k = 0; k < period; ++k) tile[i + k] = base[offset + k];
    }
  }
  CUVIL_INLINE Operand<const T, Walk::kContiguous> at(int64_t, int64_t) const { return {tile, 1}; }
};

template <class Expression, int kRank, class Out, class... In, size_t... I>
CUVIL_INLINE void run_periodic_rows(void* const* operands, const int64_t* extents, uint32_t begin, uint32_t end,
                                    std::index_sequence<I...>, Source<In>... in) {
  constexpr int kInputs = static_cast<int>(sizeof...(In)), kOuter = kRank - 1;
  const int64_t columns = extents[kRank - 1];
  const int64_t rows_of_item = extents[kRank], columns_of_item = extents[kRank + 1];
  const int64_t* strides = extents + kRank + 2;
  const int64_t period = strides[(kInputs + 1) * kRank];
  const int64_t tile = (kTileElements + period - 1) / period * period;
  const int64_t rows = product<kOuter>(extents);
  const int64_t column_blocks = (columns + columns_of_item - 1) / columns_of_item;
  Position<kOuter, kInputs + 1> position{extents,
                                         {(strides + static_cast<int64_t>(I) * kRank)..., strides + kInputs * kRank}};
  for (uint32_t item = begin; item < end; ++item) {
    const int64_t first_row = item / column_blocks * rows_of_item;
    const int64_t first = item % column_blocks * columns_of_item;
    const int64_t last_row = first_row + rows_of_item < rows ? first_row + rows_of_item : rows;
    const int64_t last = columns - first < columns_of_item ? columns : first + columns_of_item;
    position.seek(first_row);
    for (int64_t r = first_row; r < last_row; ++r, position.advance()) {
      (in.prepare(position.offset[I], period, tile), ...);
      Out* out = static_cast<Out*>(operands[kInputs]) + position.offset[kInputs];
      for (int64_t c = first; c < last; c += tile) {
        const int64_t count = last - c < tile ? last - c : tile;
        row<Expression>(count, Operand<Out, Walk::kContiguous>{out + c, 1}, in.at(position.offset[I], c)...);
      }
    }
  }
}

template <class Expression, int kRank, class Out, class... In, size_t... I>
CUVIL_INLINE void start_periodic(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin,
                                 uint32_t end, std::index_sequence<I...> indices) {
  const int64_t* strides = extents + kRank + 2;
  run_periodic_rows<Expression, kRank, Out, In...>(
      operands, extents, begin, end, indices,
      Source<In>(operands[I], strides[static_cast<int64_t>(I) * kRank + kRank - 1],
                 static_cast<uint8_t*>(scratch) + static_cast<int64_t>(I) * kTileBytes)...);
}

// Out: the element type, walked contiguously; In...: Typed<T, Walk> or Periodic<T>.
template <class Expression, int kRank, class Out, class... In>
cuvil_status run_periodic(void* const* operands, const int64_t* extents, void* scratch, uint32_t begin, uint32_t end) {
  start_periodic<Expression, kRank, Out, In...>(operands, extents, scratch, begin, end,
                                                std::index_sequence_for<In...>{});
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::loop

#endif  // CUVIL_KERNELS_LOOP_PERIODIC_H
