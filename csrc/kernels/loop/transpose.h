// transpose: copies elements between two layouts whose contiguous axes differ, in square tiles that use whole cache
// lines of both. Axis A is contiguous in the input, axis B in the output.
//
// operands: input, output.
// extents:  [0, R - 2) the outer axes, [R - 2] A, [R - 1] B; [R] [R + 1] [R + 2] outer points, A and B of a work item;
//           then R - 1 strides of the input in elements (the outer axes and B) and R - 1 of the output (the outer axes
//           and A).
// Work items are blocks of outer points, times blocks of A, times blocks of B; B innermost.
#ifndef CUVIL_KERNELS_LOOP_TRANSPOSE_H
#define CUVIL_KERNELS_LOOP_TRANSPOSE_H

#include <utility>

#include "abi/cuvil_abi.h"
#include "kernels/element.h"
#include "kernels/loop/position.h"

namespace cuvil::kernels::loop {

inline constexpr int kVectorBytes =
    16;  // every instruction set shuffles 16 bytes well; wider is bound by memory anyway
inline constexpr int kLineBytes = 64;

template <class T>
struct Tile {
  static constexpr int kSide = kVectorBytes / static_cast<int>(sizeof(T));
  typedef T Row __attribute__((vector_size(kVectorBytes)));

  template <size_t... I>
  static CUVIL_INLINE Row low_halves(Row a, Row b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, static_cast<int>(I / 2 + (I % 2) * kSide)...);
  }
  template <size_t... I>
  static CUVIL_INLINE Row high_halves(Row a, Row b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, static_cast<int>((I + kSide) / 2 + (I % 2) * kSide)...);
  }
  // Interleaves the first half of the rows with the second: log2(kSide) times this is a transposition.
  static CUVIL_INLINE void interleave(Row (&rows)[kSide]) {
    Row next[kSide];
    for (int i = 0; i < kSide / 2; ++i) {
      next[2 * i] = low_halves(rows[i], rows[i + kSide / 2], std::make_index_sequence<kSide>{});
      next[2 * i + 1] = high_halves(rows[i], rows[i + kSide / 2], std::make_index_sequence<kSide>{});
    }
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
  static CUVIL_INLINE void transpose(const T* in, ptrdiff_t in_b, T* out, ptrdiff_t out_a) {
    Row rows[kSide];
    for (int b = 0; b < kSide; ++b) __builtin_memcpy(&rows[b], in + b * in_b, sizeof(Row));
    for (int distance = 1; distance < kSide; distance *= 2) interleave(rows);
    for (int a = 0; a < kSide; ++a) __builtin_memcpy(out + a * out_a, &rows[a], sizeof(Row));
  }
};

template <class T>
CUVIL_INLINE void transpose_elements(const T* in, ptrdiff_t in_b, T* out, ptrdiff_t out_a, int64_t a_count,
                                     int64_t b_count) {
  for (int64_t a = 0; a < a_count; ++a) {
    for (int64_t b = 0; b < b_count; ++b) out[a * out_a + b] = in[a + b * in_b];
  }
}

// A square of one cache line of elements each way. Every line is read, and written, in one go: where many rows fall
// into one set of the cache (extents that are powers of two), none would stay until it is used again.
template <class T>
CUVIL_INLINE void transpose_square(const T* in, ptrdiff_t in_b, T* out, ptrdiff_t out_a) {
  using Row = typename Tile<T>::Row;
  constexpr int kSide = Tile<T>::kSide, kRows = kLineBytes / kVectorBytes, kLine = kSide * kRows;
  Row lines[kLine][kRows];
  for (int b = 0; b < kLine; ++b) __builtin_memcpy(lines[b], in + b * in_b, kLineBytes);
  for (int q = 0; q < kRows; ++q) {
    for (int s = 0; s < kRows; ++s) {
      Row rows[kSide];
      for (int i = 0; i < kSide; ++i) rows[i] = lines[s * kSide + i][q];
      for (int distance = 1; distance < kSide; distance *= 2) Tile<T>::interleave(rows);
      T* destination = out + q * kSide * out_a + s * kSide;
      for (int i = 0; i < kSide; ++i) __builtin_memcpy(destination + i * out_a, &rows[i], sizeof(Row));
    }
  }
}

// At most one cache line of elements each way.
template <class T>
CUVIL_INLINE void transpose_lines(const T* in, ptrdiff_t in_b, T* out, ptrdiff_t out_a, int64_t a_count,
                                  int64_t b_count) {
  constexpr int kSide = Tile<T>::kSide;
  int64_t a = 0;
  for (; a + kSide <= a_count; a += kSide) {
    int64_t b = 0;
    for (; b + kSide <= b_count; b += kSide) {
      Tile<T>::transpose(in + a + b * in_b, in_b, out + a * out_a + b, out_a);
    }
    transpose_elements(in + a + b * in_b, in_b, out + a * out_a + b, out_a, kSide, b_count - b);
  }
  transpose_elements(in + a, in_b, out + a * out_a, out_a, a_count - a, b_count);
}

template <class T>
void transpose_plane(const T* in, ptrdiff_t in_b, T* out, ptrdiff_t out_a, int64_t a_count, int64_t b_count) {
  constexpr int64_t kLine = kLineBytes / static_cast<int64_t>(sizeof(T));
  for (int64_t a = 0; a < a_count; a += kLine) {
    const int64_t a_here = a_count - a < kLine ? a_count - a : kLine;
    for (int64_t b = 0; b < b_count; b += kLine) {
      const int64_t b_here = b_count - b < kLine ? b_count - b : kLine;
      const T* source = in + a + b * in_b;
      T* destination = out + a * out_a + b;
      if (a_here == kLine && b_here == kLine) {
        transpose_square(source, in_b, destination, out_a);
      } else {
        transpose_lines(source, in_b, destination, out_a, a_here, b_here);
      }
    }
  }
}

// B has the extent kB, such as the channels of an image: kB streams become one.
template <int kB, class T>
void interleave_plane(const T* in, ptrdiff_t in_b, T* out, ptrdiff_t out_a, int64_t a_count) {
  if (out_a == kB) {
    CUVIL_INDEPENDENT_LOOP
    for (int64_t a = 0; a < a_count; ++a) {
      for (int b = 0; b < kB; ++b) out[a * kB + b] = in[a + b * in_b];
    }
  } else {
    transpose_elements(in, in_b, out, out_a, a_count, kB);
  }
}

// A has the extent kA: one stream becomes kA.
template <int kA, class T>
void deinterleave_plane(const T* in, ptrdiff_t in_b, T* out, ptrdiff_t out_a, int64_t b_count) {
  if (in_b == kA) {
    CUVIL_INDEPENDENT_LOOP
    for (int64_t b = 0; b < b_count; ++b) {
      for (int a = 0; a < kA; ++a) out[a * out_a + b] = in[a + b * kA];
    }
  } else {
    for (int64_t b = 0; b < b_count; ++b) {
      for (int a = 0; a < kA; ++a) out[a * out_a + b] = in[a + b * in_b];
    }
  }
}

// kSmallA or kSmallB is the extent of that axis where it is a small constant, else 0. T: an unsigned integer of the
// element's size.
template <class T, int kRank, int kSmallA, int kSmallB>
cuvil_status run_transpose(void* const* operands, const int64_t* extents, void*, uint32_t begin, uint32_t end) {
  constexpr int kOuter = kRank - 2;
  const int64_t a_extent = extents[kOuter], b_extent = extents[kOuter + 1];
  const int64_t outer_of_item = extents[kRank], a_of_item = extents[kRank + 1], b_of_item = extents[kRank + 2];
  const int64_t* in_strides = extents + kRank + 3;
  const int64_t* out_strides = in_strides + kRank - 1;
  const ptrdiff_t in_b = in_strides[kOuter], out_a = out_strides[kOuter];
  const int64_t outer = product<kOuter>(extents);
  const int64_t a_blocks = (a_extent + a_of_item - 1) / a_of_item, b_blocks = (b_extent + b_of_item - 1) / b_of_item;

  Position<kOuter, 2> position{extents, {in_strides, out_strides}};
  for (uint32_t item = begin; item < end; ++item) {
    const int64_t b = item % b_blocks * b_of_item;
    const int64_t a = item / b_blocks % a_blocks * a_of_item;
    const int64_t first = item / b_blocks / a_blocks * outer_of_item;
    const int64_t last = first + outer_of_item < outer ? first + outer_of_item : outer;
    const int64_t a_count = a_extent - a < a_of_item ? a_extent - a : a_of_item;
    const int64_t b_count = b_extent - b < b_of_item ? b_extent - b : b_of_item;
    position.seek(first);
    for (int64_t point = first; point < last; ++point) {
      const T* in = static_cast<const T*>(operands[0]) + position.offset[0] + a + b * in_b;
      T* out = static_cast<T*>(operands[1]) + position.offset[1] + a * out_a + b;
      if constexpr (kSmallB != 0) {
        interleave_plane<kSmallB>(in, in_b, out, out_a, a_count);
      } else if constexpr (kSmallA != 0) {
        deinterleave_plane<kSmallA>(in, in_b, out, out_a, b_count);
      } else {
        transpose_plane(in, in_b, out, out_a, a_count, b_count);
      }
      position.advance();
    }
  }
  return CUVIL_OK;
}

}  // namespace cuvil::kernels::loop

#endif  // CUVIL_KERNELS_LOOP_TRANSPOSE_H
