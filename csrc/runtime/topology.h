// Which CPUs a session may use, and how many: from the affinity mask, the cgroup's quota and the CPUs' capacities.
#pragma once

#include <sched.h>

#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"

namespace cuvil {

/// A set of CPU numbers, big enough for every Linux machine.
class CpuSet {
 public:
  static constexpr int kCapacity = 8192;

  /// The CPUs on which the calling thread may run: its affinity, which the kernel keeps inside its cpuset.
  static Status of_this_thread(CpuSet* out);
  /// Makes the calling thread run on these CPUs only; false when the operating system refuses.
  bool bind_this_thread() const;

  void add(int cpu) { words_[cpu / 64] |= uint64_t{1} << cpu % 64; }
  bool has(int cpu) const { return cpu >= 0 && cpu < kCapacity && (words_[cpu / 64] >> cpu % 64 & 1) != 0; }
  int count() const;
  bool operator==(const CpuSet&) const = default;

 private:
  uint64_t words_[kCapacity / 64] = {};
};

/// What the user asked for.
struct CpuRequest {
  /// 0: choose.
  uint32_t threads = 0;
  /// CPUs to use, in this order; empty: choose.
  std::span<const int> cpus;
  /// Put before /proc and /sys; for tests.
  const char* filesystem_root = "";
};

/// What a session will use.
struct CpuChoice {
  uint32_t threads = 1;
  /// The CPUs, best first. With `pinned`, thread i is bound to cpus[i]; else, with `restricted`, all threads are bound
  /// to the whole set; else threads stay where the operating system puts them.
  Array<int> cpus;
  bool pinned = false;
  bool restricted = false;
};

/// Chooses CPUs and the number of threads. Without a wish: as many threads as there are CPUs in the fastest cluster
/// (those with at least 80 % of the largest capacity, where the machine tells), never more than the affinity mask and
/// the CPU quota of the cgroups allow. Reads what it can of /sys and /proc and needs none of it.
Status choose_cpus(const CpuRequest& request, CpuChoice* choice);

/// Whole CPUs that the cgroups' quota of this process pays for (at least 1), or 0 without a limit. A quota of 1.5 CPUs
/// counts as one: a thread that is throttled in every period holds up all others at the end of each step.
uint32_t cpu_quota(const char* filesystem_root);

}  // namespace cuvil
