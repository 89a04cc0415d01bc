// How an element-wise chain rides in the store of the kernel that makes the value.
//
// A kernel's result is a matrix of rows (pixels, or rows of a matrix product) and columns (channels). Generated code
// says what happens to each element before it is stored, and how each further operand is found for a row and a column:
//
//   struct Epilogue {
//     static constexpr int kOperands = 1;
//     static constexpr cuvil::kernels::OperandMode kModes[] = {{cuvil::kernels::Rows::kEach,
//     cuvil::kernels::Columns::kEach}}; static constexpr bool kLong = false;  // true: more than some twenty
//     instructions, so do not unroll it over a tile template <class V> static CUVIL_INLINE V apply(V x, const V* e) {
//     return cuvil::math::relu(cuvil::math::add(x, e[0])); }
//   };
//
// Without operands kModes has one entry that nobody reads (an array cannot be empty).
//
// A scalar is {kOne, kOne}, a channel vector {kOne, kEach}, a residual of the output's shape {kEach, kEach}, a channel
// vector for each image (squeeze and excite) {kImage, kEach}, a mask of pixels {kEach, kOne}. kMapped is any other
// broadcast over the leading axes of the output.
//
// Extents of each operand, in the kernel's list of extents: {row_stride} for kEach; {rows_per_image, image_stride} for
// kImage; {rank, extent_0, stride_0, ...} for kMapped, where the row's index is split over the extents, outermost
// first; nothing for kOne. Strides are in elements. Columns of kEach operands are contiguous.
#ifndef CUVIL_KERNELS_EPILOGUE_H
#define CUVIL_KERNELS_EPILOGUE_H

#include "simd/math.h"

namespace cuvil::kernels {

enum class Rows { kOne, kEach, kImage, kMapped };
enum class Columns { kOne, kEach };

struct OperandMode {
  Rows rows;
  Columns columns;
};

// The chain that does nothing.
struct NoEpilogue {
  static constexpr int kOperands = 0;
  static constexpr OperandMode kModes[1] = {{Rows::kOne, Columns::kOne}};
  static constexpr bool kLong = false;
  template <class V>
  static CUVIL_INLINE V apply(V x, const V*) {
    return x;
  }
};

// One operand as a kernel call describes it.
struct EpilogueOperand {
  const float* data;
  const int64_t* extents;  // this operand's own
};

// The operands of an epilogue, read from a kernel's arguments.
template <class Epilogue>
struct EpilogueOperands {
  EpilogueOperand operand[Epilogue::kOperands + 1];

  // `operands` and `extents` begin with those of the epilogue.
  EpilogueOperands(void* const* operands, const int64_t* extents) {
    for (int i = 0; i < Epilogue::kOperands; ++i) {
      operand[i] = {static_cast<const float*>(operands[i]), extents};
      switch (Epilogue::kModes[i].rows) {
        case Rows::kOne:
          break;
        case Rows::kEach:
          extents += 1;
          break;
        case Rows::kImage:
          extents += 2;
          break;
        case Rows::kMapped:
          extents += 1 + 2 * extents[0];
          break;
      }
    }
  }
};

CUVIL_INLINE int64_t mapped_offset(const int64_t* extents, int64_t row) {
  int64_t offset = 0;
  for (int64_t axis = extents[0] - 1; axis >= 0; --axis) {
    const int64_t extent = extents[1 + 2 * axis];
    offset += row % extent * extents[2 + 2 * axis];
    row /= extent;
  }
  return offset;
}

// Walks the operands along rows. Only moving to an arbitrary row divides.
template <class Epilogue>
class EpilogueCursor {
 public:
  // A cursor without operands is of no use before start.
  EpilogueCursor() = default;
  CUVIL_INLINE EpilogueCursor(const EpilogueOperands<Epilogue>& operands, int64_t row) { start(operands, row); }

  CUVIL_INLINE void start(const EpilogueOperands<Epilogue>& operands, int64_t row) {
    operands_ = &operands;
    seek(row);
  }

  CUVIL_INLINE void seek(int64_t row) {
    row_ = row;
    for (int i = 0; i < Epilogue::kOperands; ++i) {
      const EpilogueOperand& operand = operands_->operand[i];
      data_[i] = operand.data;
      const Rows rows = Epilogue::kModes[i].rows;
      if (rows == Rows::kEach) {
        step_[i] = operand.extents[0];
        data_[i] += row * step_[i];
      }
      if (rows == Rows::kMapped) data_[i] += mapped_offset(operand.extents, row);
      if (rows == Rows::kImage) {
        const int64_t image = row / operand.extents[0];
        step_[i] = operand.extents[1];
        data_[i] += image * step_[i];
        left_[i] = (image + 1) * operand.extents[0] - row;
      }
    }
  }

  CUVIL_INLINE void next() {
    ++row_;
    for (int i = 0; i < Epilogue::kOperands; ++i) {
      const Rows rows = Epilogue::kModes[i].rows;
      if (rows == Rows::kEach) data_[i] += step_[i];
      if (rows == Rows::kMapped) {
        const EpilogueOperand& operand = operands_->operand[i];
        data_[i] = operand.data + mapped_offset(operand.extents, row_);
      }
      if (rows == Rows::kImage && --left_[i] == 0) {
        data_[i] += step_[i];
        left_[i] = operands_->operand[i].extents[0];
      }
    }
  }

  // Brings the operands of the next rows and of kColumns columns closer, where they differ from row to row.
  template <int kColumns>
  CUVIL_INLINE void prefetch(int64_t column, int rows) const {
    for (int i = 0; i < Epilogue::kOperands; ++i) {
      if (Epilogue::kModes[i].rows != Rows::kEach || Epilogue::kModes[i].columns != Columns::kEach) continue;
      const float* data = data_[i] + column;
      for (int r = 0; r < rows; ++r, data += step_[i])
        for (int c = 0; c < kColumns; c += 16) __builtin_prefetch(data + c, 0, 3);
    }
  }

  // The chain applied to x, which is at `column` of the current row.
  CUVIL_INLINE simd::F32 apply(simd::F32 x, int64_t column) const {
    simd::F32 e[Epilogue::kOperands + 1];
    for (int i = 0; i < Epilogue::kOperands; ++i) {
      const bool one = Epilogue::kModes[i].columns == Columns::kOne;
      e[i] = one ? simd::F32::splat(*data_[i]) : simd::F32::load(data_[i] + column);
    }
    return Epilogue::apply(x, e);
  }

  // The same for a single number.
  CUVIL_INLINE float apply_one(float x, int64_t column) const {
    float e[Epilogue::kOperands + 1];
    for (int i = 0; i < Epilogue::kOperands; ++i)
      e[i] = data_[i][Epilogue::kModes[i].columns == Columns::kOne ? 0 : column];
    return Epilogue::apply(x, e);
  }

  // The same for a vector of which only the first n columns exist.
  CUVIL_INLINE simd::F32 apply_partial(simd::F32 x, int64_t column, int n) const {
    simd::F32 e[Epilogue::kOperands + 1];
    for (int i = 0; i < Epilogue::kOperands; ++i) {
      const bool one = Epilogue::kModes[i].columns == Columns::kOne;
      e[i] = one ? simd::F32::splat(*data_[i]) : simd::F32::load_partial(data_[i] + column, n);
    }
    return Epilogue::apply(x, e);
  }

 private:
  const EpilogueOperands<Epilogue>* operands_;
  const float* data_[Epilogue::kOperands + 1];
  // Copies of what the extents say: the compiler cannot know that stores of results do not change those.
  int64_t step_[Epilogue::kOperands + 1];
  int64_t left_[Epilogue::kOperands + 1];
  int64_t row_;
};

}  // namespace cuvil::kernels

#endif  // CUVIL_KERNELS_EPILOGUE_H
