#include "runtime/profiler.h"

#include "base/clock.h"

namespace cuvil {
namespace {

constexpr uint64_t kMaxEntries = uint64_t{1} << 26;

Status allocate(uint64_t runs, uint64_t steps, ProfileTimes* times) {
  uint64_t entries = 0;
  if (!checked_multiply(runs, steps, &entries) || entries > kMaxEntries) {
    return Status(ErrorKind::kUsage, "too many runs for one profile")
        .thing("runs")
        .expected("at most %llu for a model of %llu steps", static_cast<unsigned long long>(kMaxEntries / steps),
                  static_cast<unsigned long long>(steps))
        .found("%llu", static_cast<unsigned long long>(runs));
  }
  if (times->run_wall_ns.resize(runs) && times->unprofiled_run_ns.resize(runs) &&
      times->step_start_ns.resize(entries) && times->step_duration_ns.resize(entries)) {
    return {};
  }
  return Status::out_of_memory("the times of the profile", (entries + runs) * 16);
}

}  // namespace

Status profile_runs(Session* session, std::span<const InputArray> inputs, std::span<const OutputArray> outputs,
                    const ProfileRequest& request, ProfileTimes* times) {
  const uint64_t steps = session->model().step_count;
  CUVIL_RETURN_IF_ERROR(allocate(static_cast<uint64_t>(request.runs), steps, times));
  const uint64_t begin_ns = monotonic_ns();
  const auto over = [&] {
    return monotonic_ns() - begin_ns >= static_cast<uint64_t>(request.max_duration_ns) ||
           (request.interrupted != nullptr && request.interrupted(request.interrupted_argument));
  };
  for (int64_t i = 0; i < request.warmup_runs && (i == 0 || !over()); ++i) {
    CUVIL_RETURN_IF_ERROR(session->run(inputs, outputs));
  }
  times->profiler_cost_ns = session->profiler_cost_ns();
  for (uint64_t run = 0; run < times->run_wall_ns.size(); ++run) {
    if (run != 0 && over()) break;
    CUVIL_RETURN_IF_ERROR(session->run(inputs, outputs, RunMode::kPlain, &times->unprofiled_run_ns[run]));
    const StepTimes row = {times->step_start_ns.span().subspan(run * steps, steps),
                           times->step_duration_ns.span().subspan(run * steps, steps)};
    CUVIL_RETURN_IF_ERROR(session->run_profiled(inputs, outputs, row, &times->run_wall_ns[run]));
    times->runs = run + 1;
  }
  return {};
}

}  // namespace cuvil
