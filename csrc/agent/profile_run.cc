#include "agent/profile_run.h"

namespace cuvil {
namespace {

void write_list(std::span<const uint64_t> values, JsonWriter* json) {
  json->begin_array();
  for (uint64_t value : values) json->unsigned_integer(value);
  json->end_array();
}

void write_rows(const Array<uint64_t>& values, uint64_t rows, uint32_t columns, JsonWriter* json) {
  json->begin_array();
  for (uint64_t row = 0; row < rows; ++row) write_list(values.span().subspan(row * columns, columns), json);
  json->end_array();
}

}  // namespace

void write_profile_times(const ProfileTimes& times, uint32_t step_count, JsonWriter* json) {
  json->member_unsigned("runs", times.runs);
  json->key("run_wall_ns");
  write_list({times.run_wall_ns.data(), times.runs}, json);
  json->key("step_start_ns");
  write_rows(times.step_start_ns, times.runs, step_count, json);
  json->key("step_duration_ns");
  write_rows(times.step_duration_ns, times.runs, step_count, json);
  json->key("unprofiled_run_ns");
  write_list({times.unprofiled_run_ns.data(), times.runs}, json);
  json->member_unsigned("profiler_cost_ns", times.profiler_cost_ns);
}

}  // namespace cuvil
