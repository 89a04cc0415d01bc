// What a run does around each step: nothing, read the clock, or mark the step for an emulator. Generated code knows
// none of it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <span>

#include "base/clock.h"

namespace cuvil {

struct NoRecorder {
  void start(uint64_t) {}
  void before(uint32_t) {}
  void after(uint32_t) {}
  void end() {}
};

class TimeRecorder {
 public:
  TimeRecorder(std::span<uint64_t> start_ns, std::span<uint64_t> duration_ns)
      : start_ns_(start_ns), duration_ns_(duration_ns) {}
  void start(uint64_t run_start_ns) { run_start_ns_ = run_start_ns; }
  void before(uint32_t step) { start_ns_[step] = monotonic_ns() - run_start_ns_; }
  void after(uint32_t step) { duration_ns_[step] = monotonic_ns() - run_start_ns_ - start_ns_[step]; }
  void end() {}

 private:
  std::span<uint64_t> start_ns_, duration_ns_;
  uint64_t run_start_ns_ = 0;
};

/// A system call that does nothing but fail: file descriptor -77 does not exist.
class MarkRecorder {
 public:
  static constexpr int kMarkerFd = -77;
  void start(uint64_t) {}
  void before(uint32_t step) { lseek(kMarkerFd, static_cast<off_t>(step) + 1, SEEK_SET); }
  void after(uint32_t) {}
  void end() { lseek(kMarkerFd, 0, SEEK_SET); }
};

/// Nanoseconds that a TimeRecorder adds to a run of `steps` steps: the smallest of several trials without the steps.
inline uint64_t measure_recorder_cost_ns(uint32_t steps) {
  constexpr int kTrials = 5;
  uint64_t start_ns = 0, duration_ns = 0, best_ns = UINT64_MAX;
  for (int trial = 0; trial < kTrials; ++trial) {
    TimeRecorder recorder({&start_ns, 1}, {&duration_ns, 1});
    const uint64_t begin_ns = monotonic_ns();
    recorder.start(begin_ns);
    for (uint32_t step = 0; step < steps; ++step) {
      recorder.before(0);
      recorder.after(0);
    }
    const uint64_t cost_ns = monotonic_ns() - begin_ns;
    if (cost_ns < best_ns) best_ns = cost_ns;
  }
  return best_ns;
}

}  // namespace cuvil
