// A model that is open for running: its memory, its threads, its current shapes.
#pragma once

#include <cstdint>
#include <span>

#include "abi/cuvil_abi.h"
#include "base/memory.h"
#include "base/mutex.h"
#include "base/status.h"
#include "runtime/bindings.h"
#include "runtime/planner.h"
#include "runtime/thread_pool.h"
#include "runtime/topology.h"

namespace cuvil {

/// An input of a run: dense row-major, aligned to its element.
struct InputArray {
  const void* data = nullptr;
  uint64_t size_bytes = 0;
  Shape shape;
};

/// Memory for an output of a run, of exactly the output's size, aligned to its element.
struct OutputArray {
  void* data = nullptr;
  uint64_t size_bytes = 0;
};

/// Where a profiled run writes its times, in nanoseconds; starts count from the start of the run.
struct StepTimes {
  std::span<uint64_t> start_ns;     // step_count
  std::span<uint64_t> duration_ns;  // step_count
};

struct SessionMemory {
  uint64_t weights_bytes = 0;
  uint64_t arena_bytes = 0;              // as planned for the current symbols
  uint64_t arena_lower_bound_bytes = 0;  // no layout needs less
  uint64_t arena_reserved_bytes = 0;     // mapped: the largest arena until now
  uint64_t scratch_bytes = 0;            // of all workers
};

enum class RunMode {
  kPlain,
  /// On the calling thread alone, with lseek(-77, step + 1, SEEK_SET) before each step and lseek(-77, 0, SEEK_SET)
  /// after the last: an emulator that sees system calls can tell which instructions belong to which step.
  kMarked,
};

/// All methods may be called by several threads; runs happen one after the other. After the first run at some shapes,
/// runs at the same or smaller shapes allocate nothing.
class Session {
 public:
  /// Opens `model`, checked against this machine. Model and weights (aligned to CUVIL_ALIGNMENT) must outlive the
  /// session.
  static Status open(const cuvil_model* model, std::span<const uint8_t> weights, const CpuRequest& cpus,
                     Owned<Session>* out);
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  const cuvil_model& model() const { return *model_; }
  uint32_t thread_count() const { return pool_.thread_count(); }
  std::span<const int> cpus() const { return choice_.cpus.span(); }

  /// Makes ready for inputs of these shapes and appends the shapes of all outputs to `extents`, one after the other.
  Status output_shapes(std::span<const Shape> inputs, Array<int64_t>* extents);

  /// Runs the model; `duration_ns` (optional) gets the wall time of the steps.
  Status run(std::span<const InputArray> inputs, std::span<const OutputArray> outputs, RunMode mode = RunMode::kPlain,
             uint64_t* duration_ns = nullptr);
  /// Runs the model with a clock around each step.
  Status run_profiled(std::span<const InputArray> inputs, std::span<const OutputArray> outputs, StepTimes times,
                      uint64_t* duration_ns);
  /// What the clocks of one profiled run cost, measured by doing them without the steps.
  uint64_t profiler_cost_ns();

  SessionMemory memory();
  /// The current values of the symbols; empty before the first run.
  Status symbols(Array<int64_t>* out);

 private:
  Status initialize(const cuvil_model* model, std::span<const uint8_t> weights, const CpuRequest& cpus);
  Status check_process() const;
  Status prepare(std::span<const Shape> shapes);
  Status resolve();
  Status reserve_memory();
  Status output_bytes(uint32_t output, uint64_t* bytes) const;
  Status bind_arrays(std::span<const InputArray> inputs, std::span<const OutputArray> outputs);
  Status check_overlap(std::span<const InputArray> inputs, std::span<const OutputArray> outputs) const;
  template <class Recorder>
  Status run_locked(std::span<const InputArray> inputs, std::span<const OutputArray> outputs, bool alone,
                    Recorder& recorder, uint64_t* duration_ns);
  template <class Recorder>
  Status run_steps(bool alone, Recorder& recorder);
  cuvil_status run_step(uint32_t step, bool alone);
  Status step_failed(uint32_t step, cuvil_status status) const;
  static void run_part(void* session, uint32_t worker, uint32_t begin, uint32_t end);

  Mutex mutex_;
  const cuvil_model* model_ = nullptr;
  std::span<const uint8_t> weights_;
  int owner_pid_ = 0;
  CpuChoice choice_;
  ThreadPool pool_;
  ArenaPlanner planner_;
  ArenaNumbers arena_numbers_;
  Pages arena_, scratch_;
  uint64_t scratch_stride_ = 0;
  bool resolved_ = false;
  cuvil_step_fn current_step_ = nullptr;
  Array<Shape> shapes_;
  Array<int64_t> symbols_, wanted_symbols_, extents_;
  Array<uint64_t> slot_bytes_, slot_offsets_;
  Array<uint32_t> work_items_;
  Array<void*> slots_;
  Array<cuvil_status> part_status_;
  Array<char> message_;
};

}  // namespace cuvil
