#include "runtime/model_check.h"

#include "base/memory.h"
#include "runtime/dtypes.h"

namespace cuvil {
namespace {

class ModelCheck {
 public:
  explicit ModelCheck(const cuvil_model& model) : model_(model) {}

  Status check() {
    if (!tables_present()) return broken("a table is missing", "the model");
    const uint64_t entries = uint64_t{model_.extent_count} + model_.slot_count;
    if (!owners_.resize(model_.slot_count) || !bound_.resize(model_.symbol_count)) {
      return Status::out_of_memory("checking the model", entries);
    }
    CUVIL_RETURN_IF_ERROR(check_slots());
    for (uint32_t i = 0; i < model_.step_count; ++i) {
      const cuvil_step& step = model_.steps[i];
      if (step.name == nullptr || step.kernel == nullptr || step.run == nullptr)
        return broken("a step is empty", "steps");
    }
    for (uint32_t i = 0; i < model_.input_count; ++i) CUVIL_RETURN_IF_ERROR(check_tensor(model_.inputs[i], true));
    for (uint32_t i = 0; i < model_.output_count; ++i) CUVIL_RETURN_IF_ERROR(check_tensor(model_.outputs[i], false));
    CUVIL_RETURN_IF_ERROR(check_symbols());
    return check_owners();
  }

 private:
  static Status broken(const char* what, const char* thing) {
    return Status(ErrorKind::kArtifact, "the compiled model contradicts itself")
        .thing("%s", thing)
        .found("%s", what)
        .hint("compile the model again");
  }

  bool tables_present() const {
    const cuvil_model& m = model_;
    return m.name != nullptr && m.target != nullptr && m.arch != nullptr && m.required_features != nullptr &&
           m.resolve != nullptr && m.extent_count >= m.symbol_count && (m.symbol_count == 0 || m.symbols != nullptr) &&
           (m.input_count == 0 || m.inputs != nullptr) && (m.output_count == 0 || m.outputs != nullptr) &&
           (m.slot_count == 0 || m.slots != nullptr) && (m.step_count == 0 || m.steps != nullptr);
  }

  Status check_slots() const {
    for (uint32_t i = 0; i < model_.slot_count; ++i) {
      const cuvil_slot& slot = model_.slots[i];
      if (slot.kind > CUVIL_SLOT_OUTPUT) return broken("a slot of an unknown kind", "slots");
      if (slot.kind != CUVIL_SLOT_ARENA) continue;
      if (slot.first_step > slot.last_step || slot.last_step >= model_.step_count) {
        return broken("a slot that is live outside the steps", "slots");
      }
    }
    return {};
  }

  Status check_tensor(const cuvil_tensor& tensor, bool is_input) {
    if (tensor.name == nullptr) return broken("no name", is_input ? "an input" : "an output");
    if (dtype_bytes(tensor.dtype) == 0) return broken("an unknown dtype", tensor.name);
    if (tensor.rank != 0 && tensor.dims == nullptr) return broken("no dims", tensor.name);
    for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
      if (tensor.dims[axis] >= 0) continue;
      const int64_t extent = -1 - tensor.dims[axis];
      const int64_t limit = is_input ? model_.symbol_count : model_.extent_count;
      if (extent >= limit) return broken("a dim that refers to nothing", tensor.name);
      if (is_input) bound_[static_cast<size_t>(extent)] = 1;
    }
    const uint32_t kind = is_input ? CUVIL_SLOT_INPUT : CUVIL_SLOT_OUTPUT;
    if (tensor.slot >= model_.slot_count || model_.slots[tensor.slot].kind != kind) {
      return broken("a slot that is not the caller's memory", tensor.name);
    }
    if (owners_[tensor.slot]++ != 0) return broken("a slot that belongs to two tensors", tensor.name);
    return {};
  }

  Status check_symbols() const {
    for (uint32_t i = 0; i < model_.symbol_count; ++i) {
      const cuvil_symbol& symbol = model_.symbols[i];
      if (symbol.name == nullptr || symbol.min < 0 || symbol.max < symbol.min || symbol.multiple_of < 1) {
        return broken("bounds that no value satisfies", symbol.name == nullptr ? "a symbol" : symbol.name);
      }
      if (bound_[i] == 0) return broken("a symbol that is no extent of an input", symbol.name);
    }
    return {};
  }

  Status check_owners() const {
    for (uint32_t i = 0; i < model_.slot_count; ++i) {
      if (model_.slots[i].kind != CUVIL_SLOT_ARENA && owners_[i] == 0) {
        return broken("an input or output slot without a tensor", "slots");
      }
    }
    return {};
  }

  const cuvil_model& model_;
  Array<uint32_t> owners_;  // how many inputs and outputs use a slot
  Array<uint8_t> bound_;    // symbols that some input has as an extent
};

}  // namespace

Status check_model(const cuvil_model* model) {
  if (model == nullptr || model->abi_version == 0 || model->abi_version > CUVIL_ABI_VERSION) {
    Status status(ErrorKind::kArtifact, "the model was compiled for another version of the runtime");
    return std::move(status)
        .thing("%s", model == nullptr || model->name == nullptr ? "the model" : model->name)
        .expected("interface version 1 to %u", CUVIL_ABI_VERSION)
        .found("%s", model == nullptr ? "a newer one" : "another one")
        .hint("install the newer cuvil-edge, or compile the model again with this one");
  }
  return ModelCheck(*model).check();
}

}  // namespace cuvil
