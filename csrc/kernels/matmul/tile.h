// The register tile that convolutions and matrix products share: up to kRows rows of A times a panel of packed B, with
// bias and epilogue applied before the one store of each result.
//
// A is read through pointers to its rows, which may be anywhere: pixels of an image, rows of a matrix, a row of zeros.
// A row is `taps` runs of `run` contiguous numbers, and has one pointer for each run. B is packed in panels of kVectors
// vectors: panel[k][column], k over all runs in order, columns beyond the last padded with zeros to whole vectors; the
// last panel has only the vectors it needs.
#ifndef CUVIL_KERNELS_MATMUL_TILE_H
#define CUVIL_KERNELS_MATMUL_TILE_H

#include "kernels/epilogue.h"

namespace cuvil::kernels::matmul {

using simd::F32;
using simd::kLanes;

// What generated code chooses: rows and vectors of the register tile, and whether there is a bias.
template <int kRows_, int kVectors_, bool kHasBias_>
struct Tiling {
  static constexpr int kRows = kRows_;
  static constexpr int kVectors = kVectors_;
  static constexpr int kColumns = kVectors_ * kLanes;
  static constexpr bool kHasBias = kHasBias_;
};

// Everything the tiles of one block have in common.
template <class Epilogue>
struct Destination {
  float* data;         // column 0 of row 0
  int64_t row_stride;  // elements from one row to the next
  int64_t columns;
  int64_t first_column;      // of the epilogue's columns (a group's place among all channels)
  const float* bias;         // one for each column, padded to whole vectors; or null
  const int64_t* row_index;  // where the block's rows are; null if they follow one another from first_row
  int64_t first_row;
  const EpilogueOperands<Epilogue>& operands;
};

// Part of the next panel, brought into the second cache while this one is used: weights that come from memory then
// arrive in time, also where few rows use them. Each tile fetches at half the rate at which it reads, so two cover a
// panel.
template <int kVectors>
struct Ahead {
  static constexpr int kLines = kVectors * kLanes * 16 / 64 / 2 > 0 ? kVectors* kLanes * 16 / 64 / 2 : 1;
  uintptr_t next;
  uintptr_t step;

  // What tile number `index`, counted over all rows, fetches.
  CUVIL_INLINE Ahead(const float* panel, int64_t panel_numbers, int64_t index) {
    const int64_t bytes = panel_numbers * 4, offset = index * ((bytes + 1) / 2);
    next = reinterpret_cast<uintptr_t>(panel) + static_cast<uintptr_t>(bytes + (offset < bytes ? offset : 0));
    step = offset < bytes ? kLines * 64 : 0;
  }
  CUVIL_INLINE void fetch() {
#pragma GCC unroll 16
    for (int i = 0; i < kLines; ++i) __builtin_prefetch(reinterpret_cast<const void*>(next + 64 * i), 0, 2);
    next += step;
  }
};

// One step of k with A's numbers spread over vectors.
template <int kRows, int kVectors>
CUVIL_INLINE void step(F32 (&acc)[kRows][kVectors], const float* const* rows, int64_t k, const float* b) {
  F32 columns[kVectors];
#pragma GCC unroll 8
  for (int c = 0; c < kVectors; ++c) columns[c] = F32::load(b + c * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const F32 a = F32::splat(rows[r][k]);
#pragma GCC unroll 8
    for (int c = 0; c < kVectors; ++c) acc[r][c] = fma(a, columns[c], acc[r][c]);
  }
}

template <int kVectors>
CUVIL_INLINE void load_columns(F32 (&columns)[kVectors], const float* b) {
#pragma GCC unroll 8
  for (int c = 0; c < kVectors; ++c) columns[c] = F32::load(b + c * kLanes);
}

// Steps kLane .. 3 of four, with A's numbers taken from lanes of vectors along k. `columns` are those of step kLane;
// the next ones are loaded before they are used up, for cores that do not look ahead.
template <int kLane, int kRows, int kVectors>
CUVIL_INLINE void lane_steps(F32 (&acc)[kRows][kVectors], const F32 (&a)[kRows], const F32 (&columns)[kVectors],
                             const float* b) {
  F32 next[kVectors];
  if constexpr (kLane < 3) load_columns(next, b + (kLane + 1) * kVectors * kLanes);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int c = 0; c < kVectors; ++c) acc[r][c] = fma_lane<kLane>(acc[r][c], columns[c], a[r]);
  }
  if constexpr (kLane < 3) lane_steps<kLane + 1>(acc, a, next, b);
}

// One row alone: several sums for each vector hide the latency of the additions.
template <int kVectors>
CUVIL_INLINE void dot_rows(F32 (&acc)[1][kVectors], const float* row, int64_t run, const float* b) {
  constexpr int kSums = 4;
  F32 sum[kSums][kVectors];
  for (auto& part : sum)
    for (F32& x : part) x = F32::zero();
  int64_t k = 0;
#pragma GCC unroll 1
  for (; k + kSums <= run; k += kSums, b += kSums * kVectors * kLanes) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) {
      const F32 a = F32::splat(row[k + s]);
#pragma GCC unroll 8
      for (int c = 0; c < kVectors; ++c) sum[s][c] = fma(a, F32::load(b + (s * kVectors + c) * kLanes), sum[s][c]);
    }
  }
#pragma GCC unroll 1
  for (; k < run; ++k, b += kVectors * kLanes) step<1, kVectors>(acc, &row, k, b);
  for (int c = 0; c < kVectors; ++c) acc[0][c] = acc[0][c] + ((sum[0][c] + sum[1][c]) + (sum[2][c] + sum[3][c]));
}

// acc[row][vector] += A[row][k] * B[k][vector]. `rows` holds row_step pointers for each run.
template <int kRows, int kVectors>
CUVIL_INLINE void multiply_add(F32 (&acc)[kRows][kVectors], const float* const* rows, int row_step, int64_t taps,
                               int64_t run, const float* b, Ahead<kVectors> ahead) {
  constexpr int kUnroll = 4;
  for (int64_t t = 0; t < taps; ++t, rows += row_step, b += run * (kVectors * kLanes)) {
    if constexpr (kRows == 1) {
      dot_rows(acc, rows[0], run, b);
      continue;
    }
    const float* panel = b;
    int64_t k = 0;
#pragma GCC unroll 1
    for (; k + kUnroll <= run; k += kUnroll, panel += kUnroll * kVectors * kLanes) {
      ahead.fetch();
      if constexpr (simd::kHasLaneFma) {
        F32 a[kRows];
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) a[r] = F32::load(rows[r] + k);
        F32 columns[kVectors];
        load_columns(columns, panel);
        lane_steps<0>(acc, a, columns, panel);
      } else {
#pragma GCC unroll 4
        for (int u = 0; u < kUnroll; ++u) step(acc, rows, k + u, panel + u * kVectors * kLanes);
      }
    }
#pragma GCC unroll 1
    for (; k < run; ++k, panel += kVectors * kLanes) step(acc, rows, k, panel);
  }
}

// One row of results; kPartial: the last vector has only some of its columns.
template <class Epilogue, int kVectors, bool kPartial>
CUVIL_INLINE void store_row(const F32* acc, float* out, const EpilogueCursor<Epilogue>& cursor, int64_t column,
                            int last) {
#pragma GCC unroll 8
  for (int c = 0; c < kVectors; ++c) {
    if (kPartial && c == kVectors - 1) {
      cursor.apply_partial(acc[c], column + c * kLanes, last).store_partial(out + c * kLanes, last);
    } else {
      cursor.apply(acc[c], column + c * kLanes).store(out + c * kLanes);
    }
  }
}

// Rows [first, first + count) of a block, columns [column, column + kVectors vectors); count <= kRows, but all kRows
// pointers are readable.
template <class T, class Epilogue, int kRows, int kVectors, bool kPartial>
CUVIL_INLINE void tile(const Destination<Epilogue>& to, const float* const* rows, int64_t taps, int64_t run,
                       const float* b, int64_t first, int count, int64_t column) {
  const int64_t at = to.first_column + column;
  const bool spread = to.row_index != nullptr;
  const int64_t row = spread ? to.row_index[first] : to.first_row + first;
  EpilogueCursor<Epilogue> cursor(to.operands, row);
  float* out = to.data + row * to.row_stride + column;
  if (!spread) {
    cursor.template prefetch<kVectors * kLanes>(at, count);
    for (int r = 0; r < count; ++r)
      for (int c = 0; c < kVectors * kLanes; c += 16) __builtin_prefetch(out + r * to.row_stride + c, 1, 3);
  }

  F32 acc[kRows][kVectors];
#pragma GCC unroll 8
  for (int c = 0; c < kVectors; ++c) {
    const F32 start = T::kHasBias ? F32::load(to.bias + column + c * kLanes) : F32::zero();
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) acc[r][c] = start;
  }
  const Ahead<kVectors> ahead(b, taps * run * kVectors * kLanes, (to.first_row + first) / T::kRows);
  multiply_add(acc, rows, T::kRows, taps, run, b, ahead);

  const int last = static_cast<int>(to.columns - column) - (kVectors - 1) * kLanes;
  if (Epilogue::kLong || spread) {
    float buffer[kRows * kVectors * kLanes];
#pragma GCC unroll 64
    for (int i = 0; i < kRows * kVectors; ++i) acc[i / kVectors][i % kVectors].store(buffer + i * kLanes);
#pragma GCC unroll 1
    for (int r = 0; r < count; ++r) {
      F32 one[kVectors];
      for (int c = 0; c < kVectors; ++c) one[c] = F32::load(buffer + (r * kVectors + c) * kLanes);
      if (spread) {
        cursor.seek(to.row_index[first + r]);
        out = to.data + to.row_index[first + r] * to.row_stride + column;
      }
      store_row<Epilogue, kVectors, kPartial>(one, out, cursor, at, last);
      cursor.next();
      out += to.row_stride;
    }
    return;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if (r >= count) return;
    store_row<Epilogue, kVectors, kPartial>(acc[r], out, cursor, at, last);
    cursor.next();
    out += to.row_stride;
  }
}

// A tile of its own function, for rows that do not fill one: code that is rarely run is kept out of the loop.
template <class T, class Epilogue, int kRows, int kVectors, bool kPartial>
__attribute__((noinline)) void last_tile(const Destination<Epilogue>& to, const float* const* rows, int64_t taps,
                                         int64_t run, const float* b, int64_t first, int count, int64_t column) {
  tile<T, Epilogue, kRows, kVectors, kPartial>(to, rows, taps, run, b, first, count, column);
}

// All rows of a block times one panel, in tiles; rows that do not fill a tile use one of half or a quarter of its size.
template <class T, class Epilogue, int kVectors, bool kPartial>
void panel_tiles(const Destination<Epilogue>& shared, const float* const* rows, int64_t taps, int64_t run,
                 const float* b, int64_t row_count, int64_t column) {
  constexpr int kHalf = (T::kRows + 1) / 2, kQuarter = (T::kRows + 3) / 4;
  const Destination<Epilogue> to = shared;  // a copy: the compiler cannot know that stores of results do not change it
  int64_t first = 0;
  for (; row_count - first > kHalf || (T::kRows == 1 && first < row_count);
       first += T::kRows, rows += taps * T::kRows) {
    const int count = static_cast<int>(row_count - first < T::kRows ? row_count - first : T::kRows);
    tile<T, Epilogue, T::kRows, kVectors, kPartial>(to, rows, taps, run, b, first, count, column);
  }
  const int count = static_cast<int>(row_count - first);
  if (count <= 0) return;
  if (count > kQuarter) {
    last_tile<T, Epilogue, kHalf, kVectors, kPartial>(to, rows, taps, run, b, first, count, column);
  } else if (count > 1) {
    last_tile<T, Epilogue, kQuarter, kVectors, kPartial>(to, rows, taps, run, b, first, count, column);
  } else {
    last_tile<T, Epilogue, 1, kVectors, kPartial>(to, rows, taps, run, b, first, count, column);
  }
}

// The last panel: as many vectors as it has.
template <class T, class Epilogue, int kVectors>
void last_panel_tiles(const Destination<Epilogue>& to, const float* const* rows, int64_t taps, int64_t run,
                      const float* b, int64_t row_count, int64_t column) {
  if constexpr (kVectors > 0) {
    if (to.columns - column > (kVectors - 1) * kLanes) {
      panel_tiles<T, Epilogue, kVectors, true>(to, rows, taps, run, b, row_count, column);
    } else {
      last_panel_tiles<T, Epilogue, kVectors - 1>(to, rows, taps, run, b, row_count, column);
    }
  }
}

// A block of rows times the panel that begins at `column`. The pointers of a block are in tiles: for each T::kRows rows
// the pointers of run 0, then of run 1, and so on; the last tile is filled up with pointers that may be read.
template <class T, class Epilogue>
void multiply_panel(const Destination<Epilogue>& to, const float* const* rows, int64_t taps, int64_t run,
                    const float* b, int64_t row_count, int64_t column) {
  if (to.columns - column >= T::kColumns) {
    panel_tiles<T, Epilogue, T::kVectors, false>(to, rows, taps, run, b, row_count, column);
  } else {
    last_panel_tiles<T, Epilogue, T::kVectors>(to, rows, taps, run, b, row_count, column);
  }
}

}  // namespace cuvil::kernels::matmul

#endif  // CUVIL_KERNELS_MATMUL_TILE_H
