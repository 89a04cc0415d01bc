// Slots that are live together must not share a byte; the same sizes must always give the same plan.
#include "runtime/planner.h"

#include <vector>

#include "check.h"
#include "guarded.h"

using cuvil::ArenaNumbers;
using cuvil::ArenaPlanner;
using cuvil::test::Random;

namespace {

struct Case {
  std::vector<cuvil_slot> slots;
  std::vector<uint64_t> bytes;
  std::vector<uint64_t> offsets;
  ArenaNumbers numbers;
  uint32_t steps = 0;
};

Case random_case(Random& random) {
  Case c;
  c.steps = static_cast<uint32_t>(random.between(1, 30));
  const int count = random.between(0, 60);
  for (int i = 0; i < count; ++i) {
    const int first = random.between(0, static_cast<int>(c.steps) - 1);
    const int last = random.between(first, std::min<int>(static_cast<int>(c.steps) - 1, first + 8));
    const uint32_t kind = random.between(0, 9) == 0 ? CUVIL_SLOT_OUTPUT : CUVIL_SLOT_ARENA;
    c.slots.push_back({kind, static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
    c.bytes.push_back(
        static_cast<uint64_t>(random.between(0, 5) == 0 ? random.between(0, 2) : random.between(1, 5000)));
  }
  c.offsets.resize(c.slots.size());
  return c;
}

uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

void plan(ArenaPlanner& planner, Case& c) {
  CHECK(planner.open(c.slots, c.steps).ok(), "open");
  CHECK(planner.plan(c.bytes, c.offsets, &c.numbers).ok(), "plan");
}

/// Walks through the steps with an owner for each byte.
void simulate(const Case& c) {
  std::vector<int> owner(c.numbers.planned_bytes, -1);
  uint64_t most = 0;
  for (uint32_t step = 0; step < c.steps; ++step) {
    std::fill(owner.begin(), owner.end(), -1);
    uint64_t live = 0;
    for (size_t i = 0; i < c.slots.size(); ++i) {
      if (c.slots[i].kind != CUVIL_SLOT_ARENA || step < c.slots[i].first_step || step > c.slots[i].last_step) continue;
      CHECK(c.offsets[i] % 64 == 0, "alignment");
      CHECK(c.offsets[i] + c.bytes[i] <= c.numbers.planned_bytes, "a slot beyond the arena");
      live += aligned(c.bytes[i]);
      for (uint64_t b = c.offsets[i]; b < c.offsets[i] + c.bytes[i] && b < owner.size(); ++b) {
        CHECK(owner[b] == -1, "slots %d and %zu share byte %llu in step %u", owner[b], i,
              static_cast<unsigned long long>(b), step);
        owner[b] = static_cast<int>(i);
      }
    }
    most = std::max(most, live);
  }
  CHECK(most == c.numbers.lower_bound_bytes, "lower bound");
  CHECK(most <= c.numbers.planned_bytes, "planned less than is live");
}

void test_random_lifetimes_never_overlap() {
  for (unsigned seed = 0; seed < 150; ++seed) {
    Random random(seed);
    Case c = random_case(random);
    ArenaPlanner planner;
    plan(planner, c);
    simulate(c);
    const std::vector<uint64_t> first = c.offsets;
    for (uint64_t& bytes : c.bytes) bytes *= 3;
    CHECK(planner.plan(c.bytes, c.offsets, &c.numbers).ok(), "bigger");
    simulate(c);
    for (uint64_t& bytes : c.bytes) bytes /= 3;
    CHECK(planner.plan(c.bytes, c.offsets, &c.numbers).ok(), "again");
    CHECK(c.offsets == first, "the plan depends on what was planned before");
  }
}

/// A chain needs two buffers, whatever its length; the Python twin gives the same offsets for these sizes.
void test_chain_shares() {
  Case c;
  c.steps = 8;
  for (uint32_t i = 0; i < 7; ++i) {
    c.slots.push_back({CUVIL_SLOT_ARENA, i, i + 1});
    c.bytes.push_back(100 + i);
  }
  c.offsets.resize(7);
  ArenaPlanner planner;
  plan(planner, c);
  CHECK(c.numbers.planned_bytes == 256 && c.numbers.lower_bound_bytes == 256, "%llu bytes",
        static_cast<unsigned long long>(c.numbers.planned_bytes));
  CHECK((c.offsets == std::vector<uint64_t>{0, 128, 0, 128, 0, 128, 0}), "offsets");
}

void test_sizes_that_do_not_fit() {
  const uint64_t huge = uint64_t{1} << 62;
  Case c;
  c.steps = 1;
  c.slots.assign(4, {CUVIL_SLOT_ARENA, 0, 0});
  c.offsets.resize(4);
  ArenaPlanner planner;
  CHECK(planner.open(c.slots, c.steps).ok(), "open");
  for (uint64_t bytes : {huge, UINT64_MAX, UINT64_MAX / 4}) {
    c.bytes.assign(4, bytes);
    CHECK(planner.plan(c.bytes, c.offsets, &c.numbers).kind() == cuvil::ErrorKind::kShape, "accepted");
  }
}

}  // namespace

int main() {
  test_random_lifetimes_never_overlap();
  test_chain_shares();
  test_sizes_that_do_not_fit();
  return cuvil::test::finish("planner");
}
