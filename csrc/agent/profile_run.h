// JSON form of a profile.
#pragma once

#include "base/json.h"
#include "runtime/profiler.h"

namespace cuvil {

/// Members "runs", "run_wall_ns", "step_start_ns", "step_duration_ns", "unprofiled_run_ns", "profiler_cost_ns".
void write_profile_times(const ProfileTimes& times, uint32_t step_count, JsonWriter* json);

}  // namespace cuvil
