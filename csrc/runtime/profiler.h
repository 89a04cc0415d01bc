// Many runs of a session with a clock around each step, and as many without.
#pragma once

#include <cstdint>

#include "runtime/session.h"

namespace cuvil {

struct ProfileRequest {
  int64_t warmup_runs = 3;
  int64_t runs = 20;
  /// No further run begins after this time (at least one profiled run is made).
  int64_t max_duration_ns = INT64_MAX;
  /// Asked before each run, if there is one; the profile ends early when it says true.
  bool (*interrupted)(void* argument) = nullptr;
  void* interrupted_argument = nullptr;
};

/// Times in nanoseconds; tables are row-major, runs x steps.
struct ProfileTimes {
  uint64_t runs = 0;
  Array<uint64_t> run_wall_ns;
  Array<uint64_t> step_start_ns;  // from the start of the run
  Array<uint64_t> step_duration_ns;
  /// Runs without clocks, each made right before a profiled one, so that a changing CPU clock meets both alike.
  Array<uint64_t> unprofiled_run_ns;
  uint64_t profiler_cost_ns = 0;  // per run
};

/// Warms up, then measures. All memory is allocated before the first run.
Status profile_runs(Session* session, std::span<const InputArray> inputs, std::span<const OutputArray> outputs,
                    const ProfileRequest& request, ProfileTimes* times);

}  // namespace cuvil
