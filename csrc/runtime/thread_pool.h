// Threads that share the work items of one step at a time.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "base/memory.h"
#include "base/status.h"
#include "runtime/topology.h"

namespace cuvil {

/// What a worker does: the half-open part [begin, end) of a step's items. `worker` is 0 for the calling thread.
using PartFunction = void (*)(void* argument, uint32_t worker, uint32_t begin, uint32_t end);

/// A pool whose caller is worker 0. `run` may be called by any thread, but by one at a time.
///
/// Idle workers watch their mailbox for a short, bounded time and then sleep in the kernel (futex), so that an idle
/// pool costs nothing and the next step of a running model finds them awake.
class ThreadPool {
 public:
  static constexpr uint64_t kSpinNs = 40'000;

  ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { stop(); }

  /// Starts choice.threads - 1 threads, bound to CPUs as the choice says.
  Status start(const CpuChoice& choice, uint64_t spin_ns = kSpinNs);
  /// Ends the threads; later runs use the caller alone. In a forked child, where the threads do not exist, it forgets
  /// them.
  void stop();

  uint32_t thread_count() const { return worker_count_ + 1; }

  /// Splits [0, items) as evenly as possible (parts differ by one item at most), runs all parts and returns when all
  /// have ended. Fewer items than threads wake only as many threads as there are items; one item runs on the caller.
  void run(uint32_t items, PartFunction function, void* argument);

 private:
  struct Worker;
  static void* thread_main(void* worker);
  void work(Worker* worker);
  void wait_for_workers();
  Status start_worker(uint32_t index, const CpuChoice& choice);

  Worker* workers_ = nullptr;
  uint32_t worker_count_ = 0;
  uint64_t spin_ns_ = kSpinNs;
  int owner_pid_ = 0;
  // The step at hand: written by the caller before it posts to a mailbox, constant until all parts have ended.
  uint32_t items_ = 0;
  uint32_t parts_ = 1;
  PartFunction function_ = nullptr;
  void* argument_ = nullptr;
  alignas(64) std::atomic<uint32_t> unfinished_{0};
  std::atomic<uint32_t> caller_sleeps_{0};
};

/// First item of part `part` of `parts` when `items` are split evenly.
inline uint32_t part_begin(uint32_t items, uint32_t part, uint32_t parts) {
  return static_cast<uint32_t>(uint64_t{items} * part / parts);
}

}  // namespace cuvil
