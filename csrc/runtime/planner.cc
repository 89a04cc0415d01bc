#include "runtime/planner.h"

#include <algorithm>

namespace cuvil {
namespace {

Status too_big() {
  return Status(ErrorKind::kShape, "the tensors of the model are too big")
      .thing("the arena")
      .expected("sizes of less than 2^63 bytes")
      .hint("use smaller inputs");
}

bool live_together(const cuvil_slot& a, const cuvil_slot& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

}  // namespace

Status ArenaPlanner::open(std::span<const cuvil_slot> slots, uint32_t step_count) {
  slots_ = slots;
  const size_t count = slots.size();
  if (!sizes_.resize(count) || !by_size_.reserve(count) || !placed_.reserve(count) || !born_.resize(step_count) ||
      !died_.resize(step_count)) {
    return Status::out_of_memory("the arena planner", count * 16 + step_count * 16);
  }
  return {};
}

bool ArenaPlanner::aligned_sizes(std::span<const uint64_t> slot_bytes) {
  by_size_.clear();
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    sizes_[i] = 0;
    if (slots_[i].kind != CUVIL_SLOT_ARENA) continue;
    if (slot_bytes[i] > INT64_MAX || !checked_round_up(slot_bytes[i], CUVIL_ALIGNMENT, &sizes_[i])) return false;
    if (sizes_[i] != 0 && !by_size_.push(i)) return false;
  }
  std::sort(by_size_.begin(), by_size_.end(),
            [this](uint32_t a, uint32_t b) { return sizes_[a] != sizes_[b] ? sizes_[a] > sizes_[b] : a < b; });
  return true;
}

bool ArenaPlanner::lower_bound(uint64_t* bytes) {
  std::fill(born_.begin(), born_.end(), 0);
  std::fill(died_.begin(), died_.end(), 0);
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (!checked_add(born_[slots_[i].first_step], sizes_[i], &born_[slots_[i].first_step])) return false;
    if (!checked_add(died_[slots_[i].last_step], sizes_[i], &died_[slots_[i].last_step])) return false;
  }
  uint64_t live = 0;
  *bytes = 0;
  for (size_t step = 0; step < born_.size(); ++step) {
    if (!checked_add(live, born_[step], &live)) return false;
    *bytes = std::max(*bytes, live);
    live -= died_[step];
  }
  return true;
}

bool ArenaPlanner::place(uint32_t slot, std::span<uint64_t> offsets, uint64_t* end) {
  uint64_t offset = 0;
  for (uint32_t other : placed_) {
    if (!live_together(slots_[slot], slots_[other])) continue;
    if (offsets[other] >= offset && offsets[other] - offset >= sizes_[slot]) break;
    offset = std::max(offset, offsets[other] + sizes_[other]);
  }
  if (!checked_add(offset, sizes_[slot], end) || *end > INT64_MAX) return false;
  offsets[slot] = offset;
  const size_t count = placed_.size();
  if (!placed_.push(slot)) return false;
  size_t at = count;
  for (; at > 0 && offsets[placed_[at - 1]] > offset; --at) placed_[at] = placed_[at - 1];
  placed_[at] = slot;
  return true;
}

Status ArenaPlanner::plan(std::span<const uint64_t> slot_bytes, std::span<uint64_t> offsets, ArenaNumbers* numbers) {
  *numbers = {};
  placed_.clear();
  std::fill(offsets.begin(), offsets.end(), 0);
  if (!aligned_sizes(slot_bytes) || !lower_bound(&numbers->lower_bound_bytes)) return too_big();
  for (uint32_t slot : by_size_) {
    uint64_t end = 0;
    if (!place(slot, offsets, &end)) return too_big();
    numbers->planned_bytes = std::max(numbers->planned_bytes, end);
  }
  return {};
}

}  // namespace cuvil
