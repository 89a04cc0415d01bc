// Where arena slots lie. Twin of cuvil_edge/ir/plan.py: both must give the same offsets.
#pragma once

#include <cstdint>
#include <span>

#include "abi/cuvil_abi.h"
#include "base/memory.h"
#include "base/status.h"

namespace cuvil {

/// The layout of an arena; sizes are those rounded up to CUVIL_ALIGNMENT.
struct ArenaNumbers {
  uint64_t planned_bytes = 0;
  /// The largest sum of sizes of slots that are live in one step: no layout can need less.
  uint64_t lower_bound_bytes = 0;
};

/// Plans arenas for one list of slots; holds the memory that planning needs, so that planning again allocates nothing.
class ArenaPlanner {
 public:
  /// `slots` must outlive the planner, with first_step <= last_step < step_count.
  Status open(std::span<const cuvil_slot> slots, uint32_t step_count);

  /// Gives every arena slot a byte offset (others get 0): larger slots first (of equal ones the first in the list),
  /// each at the lowest place that is free for its whole life. The result depends on nothing but slots and sizes. Fails
  /// when sizes do not fit in 64 bits.
  Status plan(std::span<const uint64_t> slot_bytes, std::span<uint64_t> offsets, ArenaNumbers* numbers);

 private:
  bool aligned_sizes(std::span<const uint64_t> slot_bytes);
  bool lower_bound(uint64_t* bytes);
  bool place(uint32_t slot, std::span<uint64_t> offsets, uint64_t* end);

  std::span<const cuvil_slot> slots_;
  Array<uint64_t> sizes_;
  Array<uint32_t> by_size_;
  Array<uint32_t> placed_;       // slots that have a place, by offset
  Array<uint64_t> born_, died_;  // bytes that become live at, and end after, each step
};

}  // namespace cuvil
