#include "python/open_model.h"

#include <pybind11/stl.h>

#include <mutex>

#include "base/clock.h"
#include "base/cpu_features.h"
#include "runtime/dtypes.h"
#include "runtime/model_check.h"

namespace py = pybind11;

namespace cuvil {
namespace {

constexpr uint64_t kSignalCheckNs = 50'000'000;

/// Lets Python notice Ctrl-C during a long profile.
struct Interruption {
  uint64_t next_check_ns = 0;
  bool raised = false;

  static bool check(void* argument) {
    Interruption* self = static_cast<Interruption*>(argument);
    if (self->raised) return true;
    const uint64_t now_ns = monotonic_ns();
    if (now_ns < self->next_check_ns) return false;
    self->next_check_ns = now_ns + kSignalCheckNs;
    py::gil_scoped_acquire gil;
    self->raised = PyErr_CheckSignals() != 0;
    return self->raised;
  }
};

py::tuple rows(const Array<uint64_t>& values, size_t row_count, size_t columns) {
  py::tuple out(row_count);
  for (size_t row = 0; row < row_count; ++row) {
    py::tuple line(columns);
    for (size_t i = 0; i < columns; ++i) line[i] = py::int_(values[row * columns + i]);
    out[row] = line;
  }
  return out;
}

py::tuple first(const Array<uint64_t>& values, size_t count) {
  py::tuple out(count);
  for (size_t i = 0; i < count; ++i) out[i] = py::int_(values[i]);
  return out;
}

py::list names(std::span<const cuvil_tensor> tensors) {
  py::list out;
  for (const cuvil_tensor& tensor : tensors) out.append(py::make_tuple(tensor.name, dtype_name(tensor.dtype)));
  return out;
}

}  // namespace

OpenModel::OpenModel(py::handle library, py::handle weights, const std::string& name, uint32_t threads,
                     const std::vector<int>& cpus)
    : name_(name), library_(std::make_unique<Library>()) {
  const BufferView bytes(library, false);
  weights_.emplace(weights, false);
  CpuRequest request;
  request.threads = threads;
  request.cpus = cpus;
  Status status;
  {
    py::gil_scoped_release released;
    status = library_->open(bytes.bytes(), name.c_str());
    if (status.ok()) status = Session::open(library_->model(), weights_->bytes(), request, &session_);
  }
  check(std::move(status));
}

template <class Use>
void OpenModel::use(Use use) {
  Status status;
  {
    py::gil_scoped_release released;
    std::shared_lock<std::shared_mutex> lock;
    // In a forked child the lock may be held for ever by a thread that is not there; the session refuses by itself.
    if (owner_pid_ == getpid()) lock = std::shared_lock<std::shared_mutex>(lifetime_);
    if (closing_.load() || !session_) {
      status = Status(ErrorKind::kUsage, "the model is closed")
                   .thing("model %s", name_.c_str())
                   .hint("run it inside the with block, or open it again");
    } else {
      status = use(*session_);
    }
  }
  check(std::move(status));
}

std::vector<py::tuple> OpenModel::output_shapes(const py::sequence& inputs) {
  const RunArrays arrays(inputs, py::tuple());
  Array<int64_t> extents;
  std::vector<uint32_t> ranks;
  use([&](Session& session) {
    const cuvil_model& model = session.model();
    for (uint32_t i = 0; i < model.output_count; ++i) ranks.push_back(model.outputs[i].rank);
    return session.output_shapes(arrays.shapes, &extents);
  });
  std::vector<py::tuple> shapes;
  size_t next = 0;
  for (uint32_t rank : ranks) {
    py::tuple shape(rank);
    for (uint32_t axis = 0; axis < rank; ++axis) shape[axis] = py::int_(extents[next++]);
    shapes.push_back(shape);
  }
  return shapes;
}

void OpenModel::run(const py::sequence& inputs, const py::sequence& outputs) {
  const RunArrays arrays(inputs, outputs);
  use([&](Session& session) { return session.run(arrays.inputs, arrays.outputs); });
}

py::dict OpenModel::profile(const py::sequence& inputs, const py::sequence& outputs, int64_t runs, int64_t warmup_runs,
                            int64_t max_duration_ns) {
  const RunArrays arrays(inputs, outputs);
  ProfileTimes times;
  Interruption interruption;
  ProfileRequest request;
  request.runs = runs;
  request.warmup_runs = warmup_runs;
  request.max_duration_ns = max_duration_ns;
  request.interrupted = &Interruption::check;
  request.interrupted_argument = &interruption;
  size_t steps = 0;
  use([&](Session& session) {
    steps = session.model().step_count;
    return profile_runs(&session, arrays.inputs, arrays.outputs, request, &times);
  });
  if (interruption.raised) throw py::error_already_set();
  py::dict out;
  out["run_wall_ns"] = first(times.run_wall_ns, times.runs);
  out["step_start_ns"] = rows(times.step_start_ns, times.runs, steps);
  out["step_duration_ns"] = rows(times.step_duration_ns, times.runs, steps);
  out["unprofiled_run_ns"] = first(times.unprofiled_run_ns, times.runs);
  out["profiler_cost_ns"] = times.profiler_cost_ns;
  return out;
}

py::dict OpenModel::describe() {
  py::dict out;
  use([&](Session& session) {
    py::gil_scoped_acquire gil;
    const cuvil_model& model = session.model();
    out["name"] = model.name;
    out["target"] = model.target;
    out["inputs"] = names({model.inputs, model.input_count});
    out["outputs"] = names({model.outputs, model.output_count});
    py::list steps;
    for (uint32_t i = 0; i < model.step_count; ++i) steps.append(model.steps[i].name);
    out["steps"] = steps;
    out["threads"] = session.thread_count();
    out["cpus"] = std::vector<int>(session.cpus().begin(), session.cpus().end());
    return Status();
  });
  return out;
}

py::dict OpenModel::memory() {
  SessionMemory numbers;
  use([&](Session& session) {
    numbers = session.memory();
    return Status();
  });
  py::dict out;
  out["weights_bytes"] = numbers.weights_bytes;
  out["arena_bytes"] = numbers.arena_bytes;
  out["arena_lower_bound_bytes"] = numbers.arena_lower_bound_bytes;
  out["arena_reserved_bytes"] = numbers.arena_reserved_bytes;
  out["scratch_bytes"] = numbers.scratch_bytes;
  return out;
}

py::dict OpenModel::symbols() {
  Array<int64_t> values;
  std::vector<const char*> names;
  use([&](Session& session) {
    for (uint32_t i = 0; i < session.model().symbol_count; ++i) names.push_back(session.model().symbols[i].name);
    return session.symbols(&values);
  });
  py::dict out;
  for (size_t i = 0; i < values.size(); ++i) out[names[i]] = values[i];
  return out;
}

void OpenModel::close() {
  closing_.store(true);
  {
    py::gil_scoped_release released;
    std::unique_lock<std::shared_mutex> lock;
    if (owner_pid_ == getpid()) lock = std::unique_lock<std::shared_mutex>(lifetime_);
    session_.reset();
    library_.reset();
  }
  weights_.reset();
}

}  // namespace cuvil
