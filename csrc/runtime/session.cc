#include "runtime/session.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/cpu_features.h"
#include "runtime/caller_affinity.h"
#include "runtime/dtypes.h"
#include "runtime/model_check.h"
#include "runtime/recorder.h"

namespace cuvil {
namespace {

constexpr size_t kMessageBytes = 512;

bool aligned(const void* data, uint64_t alignment) { return reinterpret_cast<uintptr_t>(data) % alignment == 0; }

bool overlap(const void* a, uint64_t a_bytes, const void* b, uint64_t b_bytes) {
  const uintptr_t a_begin = reinterpret_cast<uintptr_t>(a), b_begin = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 && a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

Status check_weights(const cuvil_model& model, std::span<const uint8_t> weights) {
  if (weights.size() == model.weights_bytes && aligned(weights.data(), CUVIL_ALIGNMENT)) return {};
  return Status(ErrorKind::kArtifact, "these are not the weights of the model")
      .thing("weights of model %s", model.name)
      .expected("%llu bytes, aligned to %u", static_cast<unsigned long long>(model.weights_bytes), CUVIL_ALIGNMENT)
      .found("%llu bytes", static_cast<unsigned long long>(weights.size()))
      .hint("model and weights must come from the same compilation");
}

Status check_memory(const char* kind, const char* name, uint32_t dtype, const void* data, uint64_t bytes,
                    uint64_t expected_bytes) {
  const uint32_t alignment = dtype_bytes(dtype);
  if (bytes == expected_bytes && (bytes == 0 || (data != nullptr && aligned(data, alignment)))) return {};
  return Status(ErrorKind::kInput, bytes == expected_bytes ? "memory is not aligned" : "wrong size of memory")
      .thing("%s %s", kind, name)
      .expected("%llu bytes of %s, aligned to %u", static_cast<unsigned long long>(expected_bytes), dtype_name(dtype),
                alignment)
      .found("%llu bytes at %p", static_cast<unsigned long long>(bytes), data);
}

}  // namespace

Status Session::open(const cuvil_model* model, std::span<const uint8_t> weights, const CpuRequest& cpus,
                     Owned<Session>* out) {
  CUVIL_RETURN_IF_ERROR(check_model(model));
  CUVIL_RETURN_IF_ERROR(check_cpu(CpuFeatures::detect(), model->arch, model->required_features, model->name));
  CUVIL_RETURN_IF_ERROR(check_weights(*model, weights));
  Owned<Session> session = make_owned<Session>();
  if (!session) return Status::out_of_memory("the session", sizeof(Session));
  CUVIL_RETURN_IF_ERROR(session->initialize(model, weights, cpus));
  *out = std::move(session);
  return {};
}

Status Session::initialize(const cuvil_model* model, std::span<const uint8_t> weights, const CpuRequest& cpus) {
  model_ = model;
  weights_ = weights;
  owner_pid_ = getpid();
  CUVIL_RETURN_IF_ERROR(choose_cpus(cpus, &choice_));
  if (!shapes_.resize(model->input_count) || !symbols_.resize(model->symbol_count) ||
      !wanted_symbols_.resize(model->symbol_count) || !extents_.resize(model->extent_count) ||
      !slot_bytes_.resize(model->slot_count) || !slot_offsets_.resize(model->slot_count) ||
      !work_items_.resize(model->step_count) || !slots_.resize(model->slot_count) ||
      !part_status_.resize(choice_.threads) || !message_.resize(kMessageBytes)) {
    return Status::out_of_memory("the tables of the session", uint64_t{model->slot_count} * 24);
  }
  CUVIL_RETURN_IF_ERROR(planner_.open({model->slots, model->slot_count}, model->step_count));
  return pool_.start(choice_);
}

Session::~Session() {
  if (owner_pid_ == getpid()) MutexLock waits_for_a_run(mutex_);
}

Status Session::check_process() const {
  if (owner_pid_ == getpid()) return {};
  return Status(ErrorKind::kRuntimeFailure, "the session belongs to another process")
      .thing("model %s", model_->name)
      .expected("process %d, which opened it", owner_pid_)
      .found("process %d, forked from it", getpid())
      .hint("open the model after the fork (threads do not survive one)");
}

Status Session::prepare(std::span<const Shape> shapes) {
  CUVIL_RETURN_IF_ERROR(bind_symbols(*model_, shapes, wanted_symbols_.span()));
  if (resolved_ && std::equal(symbols_.begin(), symbols_.end(), wanted_symbols_.begin())) return {};
  resolved_ = false;
  std::copy(wanted_symbols_.begin(), wanted_symbols_.end(), symbols_.begin());
  CUVIL_RETURN_IF_ERROR(resolve());
  resolved_ = true;
  return {};
}

Status Session::resolve() {
  message_[0] = 0;
  cuvil_resolved resolved = {extents_.data(),    slot_bytes_.data(),
                             work_items_.data(), 0,
                             message_.data(),    static_cast<uint32_t>(message_.size())};
  const cuvil_status status = model_->resolve(symbols_.data(), &resolved);
  if (status != CUVIL_OK) {
    message_[message_.size() - 1] = 0;
    return Status(ErrorKind::kShape, "the model cannot run at these shapes")
        .thing("model %s", model_->name)
        .found("%s", message_.data())
        .hint("change the extents of the inputs");
  }
  for (uint32_t i = 0; i < model_->output_count; ++i) {
    uint64_t bytes = 0;
    CUVIL_RETURN_IF_ERROR(output_bytes(i, &bytes));
  }
  CUVIL_RETURN_IF_ERROR(planner_.plan(slot_bytes_.span(), slot_offsets_.span(), &arena_numbers_));
  if (!checked_round_up(resolved.scratch_bytes, CUVIL_ALIGNMENT, &scratch_stride_)) {
    return Status::out_of_memory("scratch memory", resolved.scratch_bytes);
  }
  return reserve_memory();
}

Status Session::reserve_memory() {
  // Old memory goes back first, so that growing never holds both. Pages gives zero-sized blocks an address, too.
  if (arena_.data() == nullptr || arena_.size_bytes() < arena_numbers_.planned_bytes) {
    if (!arena_.allocate(arena_numbers_.planned_bytes)) {
      return Status::out_of_memory("the arena", arena_numbers_.planned_bytes);
    }
  }
  uint64_t scratch_bytes = 0;
  if (!checked_multiply(scratch_stride_, uint64_t{thread_count()}, &scratch_bytes)) {
    return Status::out_of_memory("scratch memory", scratch_stride_);
  }
  if (scratch_.data() == nullptr || scratch_.size_bytes() < scratch_bytes) {
    if (!scratch_.allocate(scratch_bytes)) return Status::out_of_memory("scratch memory", scratch_bytes);
  }
  for (uint32_t i = 0; i < model_->slot_count; ++i) {
    slots_[i] = model_->slots[i].kind == CUVIL_SLOT_ARENA ? arena_.data() + slot_offsets_[i] : nullptr;
  }
  return {};
}

Status Session::output_bytes(uint32_t output, uint64_t* bytes) const {
  const cuvil_tensor& tensor = model_->outputs[output];
  *bytes = dtype_bytes(tensor.dtype);
  bool fits = true;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    const int64_t dim = tensor.dims[axis];
    const int64_t extent = dim >= 0 ? dim : extents_[static_cast<size_t>(-1 - dim)];
    fits = fits && extent >= 0 && checked_multiply(*bytes, static_cast<uint64_t>(extent), bytes);
  }
  if (fits && *bytes <= INT64_MAX && slot_bytes_[tensor.slot] <= *bytes) return {};
  return Status(ErrorKind::kShape, "the size of an output is impossible").thing("output %s", tensor.name);
}

Status Session::output_shapes(std::span<const Shape> inputs, Array<int64_t>* extents) {
  CUVIL_RETURN_IF_ERROR(check_process());
  MutexLock lock(mutex_);
  CUVIL_RETURN_IF_ERROR(prepare(inputs));
  for (uint32_t i = 0; i < model_->output_count; ++i) {
    const cuvil_tensor& output = model_->outputs[i];
    for (uint32_t axis = 0; axis < output.rank; ++axis) {
      const int64_t dim = output.dims[axis];
      if (!extents->push(dim >= 0 ? dim : extents_[static_cast<size_t>(-1 - dim)])) {
        return Status::out_of_memory("the shapes of the outputs", extents->size() * 8);
      }
    }
  }
  return {};
}

Status Session::bind_arrays(std::span<const InputArray> inputs, std::span<const OutputArray> outputs) {
  if (outputs.size() != model_->output_count) {
    return Status(ErrorKind::kInput, "wrong number of outputs")
        .thing("model %s", model_->name)
        .expected("%u", model_->output_count)
        .found("%llu", static_cast<unsigned long long>(outputs.size()));
  }
  for (uint32_t i = 0; i < model_->input_count; ++i) {
    const cuvil_tensor& tensor = model_->inputs[i];
    uint64_t bytes = 0;
    if (!element_count(inputs[i].shape, &bytes) ||
        !checked_multiply(bytes, uint64_t{dtype_bytes(tensor.dtype)}, &bytes)) {
      bytes = UINT64_MAX;
    }
    CUVIL_RETURN_IF_ERROR(
        check_memory("input", tensor.name, tensor.dtype, inputs[i].data, inputs[i].size_bytes, bytes));
    slots_[tensor.slot] = const_cast<void*>(inputs[i].data);
  }
  for (uint32_t i = 0; i < model_->output_count; ++i) {
    const cuvil_tensor& tensor = model_->outputs[i];
    uint64_t bytes = 0;
    CUVIL_RETURN_IF_ERROR(output_bytes(i, &bytes));
    CUVIL_RETURN_IF_ERROR(
        check_memory("output", tensor.name, tensor.dtype, outputs[i].data, outputs[i].size_bytes, bytes));
    slots_[tensor.slot] = outputs[i].data;
  }
  return check_overlap(inputs, outputs);
}

Status Session::check_overlap(std::span<const InputArray> inputs, std::span<const OutputArray> outputs) const {
  const auto shared = [](const char* kind, const char* name, const char* output) {
    return Status(ErrorKind::kInput, "memory is given twice")
        .thing("output %s", output)
        .found("it shares memory with %s %s", kind, name)
        .hint("give each output an array of its own");
  };
  for (size_t o = 0; o < outputs.size(); ++o) {
    const OutputArray& out = outputs[o];
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (overlap(out.data, out.size_bytes, inputs[i].data, inputs[i].size_bytes)) {
        return shared("input", model_->inputs[i].name, model_->outputs[o].name);
      }
    }
    for (size_t i = 0; i < o; ++i) {
      if (overlap(out.data, out.size_bytes, outputs[i].data, outputs[i].size_bytes)) {
        return shared("output", model_->outputs[i].name, model_->outputs[o].name);
      }
    }
  }
  return {};
}

void Session::run_part(void* argument, uint32_t worker, uint32_t begin, uint32_t end) {
  Session* self = static_cast<Session*>(argument);
  cuvil_step_args arguments = {self->extents_.data(),
                               self->slots_.data(),
                               self->weights_.data(),
                               self->scratch_.data() + worker * self->scratch_stride_,
                               begin,
                               end};
  self->part_status_[worker] = self->current_step_(&arguments);
}

cuvil_status Session::run_step(uint32_t step, bool alone) {
  const uint32_t items = work_items_[step];
  if (items == 0) return CUVIL_OK;
  current_step_ = model_->steps[step].run;
  if (alone) {
    run_part(this, 0, 0, items);
    return part_status_[0];
  }
  pool_.run(items, run_part, this);
  const uint32_t parts = std::min(items, thread_count());
  for (uint32_t i = 0; i < parts; ++i) {
    if (part_status_[i] != CUVIL_OK) return part_status_[i];
  }
  return CUVIL_OK;
}

template <class Recorder>
Status Session::run_steps(bool alone, Recorder& recorder) {
  for (uint32_t step = 0; step < model_->step_count; ++step) {
    recorder.before(step);
    const cuvil_status status = run_step(step, alone);
    recorder.after(step);
    if (status != CUVIL_OK) return step_failed(step, status);
  }
  recorder.end();
  return {};
}

Status Session::step_failed(uint32_t step, cuvil_status status) const {
  const char* found = status == CUVIL_BAD_INDEX   ? "an index in the data is outside its axis"
                      : status == CUVIL_BAD_VALUE ? "a value in the data is outside its domain"
                                                  : "a failure without a name";
  return Status(ErrorKind::kRuntimeFailure, "a step refused its data")
      .thing("step %s of model %s", model_->steps[step].name, model_->name)
      .found("%s", found)
      .hint("check the values of the inputs (not only their shapes)");
}

template <class Recorder>
Status Session::run_locked(std::span<const InputArray> inputs, std::span<const OutputArray> outputs, bool alone,
                           Recorder& recorder, uint64_t* duration_ns) {
  CUVIL_RETURN_IF_ERROR(check_process());
  MutexLock lock(mutex_);
  CUVIL_RETURN_IF_ERROR(check_input_count(*model_, inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) shapes_[i] = inputs[i].shape;
  CUVIL_RETURN_IF_ERROR(prepare(shapes_.span()));
  CUVIL_RETURN_IF_ERROR(bind_arrays(inputs, outputs));
  CallerAffinity affinity(choice_);
  const uint64_t start_ns = monotonic_ns();
  recorder.start(start_ns);
  Status status = run_steps(alone, recorder);
  if (duration_ns != nullptr) *duration_ns = monotonic_ns() - start_ns;
  return status;
}

Status Session::run(std::span<const InputArray> inputs, std::span<const OutputArray> outputs, RunMode mode,
                    uint64_t* duration_ns) {
  if (mode == RunMode::kMarked) {
    MarkRecorder recorder;
    return run_locked(inputs, outputs, true, recorder, duration_ns);
  }
  NoRecorder recorder;
  return run_locked(inputs, outputs, false, recorder, duration_ns);
}

Status Session::run_profiled(std::span<const InputArray> inputs, std::span<const OutputArray> outputs, StepTimes times,
                             uint64_t* duration_ns) {
  TimeRecorder recorder(times.start_ns, times.duration_ns);
  return run_locked(inputs, outputs, false, recorder, duration_ns);
}

uint64_t Session::profiler_cost_ns() { return measure_recorder_cost_ns(model_->step_count); }

SessionMemory Session::memory() {
  SessionMemory numbers;
  if (!check_process().ok()) return numbers;
  MutexLock lock(mutex_);
  numbers.weights_bytes = weights_.size();
  numbers.arena_bytes = arena_numbers_.planned_bytes;
  numbers.arena_lower_bound_bytes = arena_numbers_.lower_bound_bytes;
  numbers.arena_reserved_bytes = arena_.size_bytes();
  numbers.scratch_bytes = scratch_.size_bytes();
  return numbers;
}

Status Session::symbols(Array<int64_t>* out) {
  CUVIL_RETURN_IF_ERROR(check_process());
  MutexLock lock(mutex_);
  out->clear();
  if (!resolved_) return {};
  if (!out->resize(symbols_.size())) return Status::out_of_memory("the symbols", symbols_.size() * 8);
  std::copy(symbols_.begin(), symbols_.end(), out->begin());
  return {};
}

}  // namespace cuvil
