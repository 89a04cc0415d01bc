#include "agent/reply.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "base/cpu_features.h"
#include "base/file.h"
#include "runtime/dtypes.h"

namespace cuvil {
namespace {

void write_tensors(const cuvil_model& model, std::span<const cuvil_tensor> tensors, JsonWriter* json) {
  json->begin_array();
  for (const cuvil_tensor& tensor : tensors) {
    json->begin_object();
    json->member("name", tensor.name);
    json->member("dtype", dtype_name(tensor.dtype));
    json->key("shape");
    json->begin_array();
    for (uint32_t axis = 0; axis < tensor.rank; ++axis) json->integer(tensor.dims[axis] < 0 ? -1 : tensor.dims[axis]);
    json->end_array();
    Text dims;
    append_dims(model, tensor, &dims);
    json->member("dims", dims.view());
    json->end_object();
  }
  json->end_array();
}

void write_symbols(const cuvil_model& model, JsonWriter* json) {
  json->begin_array();
  for (uint32_t i = 0; i < model.symbol_count; ++i) {
    const cuvil_symbol& symbol = model.symbols[i];
    json->begin_object();
    json->member("name", symbol.name);
    json->member_integer("min", symbol.min);
    json->key("max");
    symbol.max == CUVIL_UNBOUNDED ? json->null() : json->integer(symbol.max);
    json->member_integer("multiple_of", symbol.multiple_of);
    json->end_object();
  }
  json->end_array();
}

void write_words(std::string_view text, JsonWriter* json) {
  json->begin_array();
  while (!text.empty()) {
    const size_t end = text.find(' ') == std::string_view::npos ? text.size() : text.find(' ');
    if (end != 0) json->text(slice(text, 0, end));
    text.remove_prefix(end == text.size() ? end : end + 1);
  }
  json->end_array();
}

}  // namespace

bool send_line(Text* line) {
  line->append('\n');
  return !line->failed() && write_all(STDOUT_FILENO, line->view().data(), line->size()) == 0;
}

void write_error_member(const Status& status, JsonWriter* json) {
  const ErrorText& error = status.error();
  json->key("error");
  json->begin_object();
  json->member("kind", kind_name(status.kind()));
  json->member("what", error.what);
  json->member("thing", error.thing);
  json->member("expected", error.expected);
  json->member("found", error.found);
  json->member("hint", error.hint);
  json->end_object();
}

void write_error_event(const Status& status, Text* line) {
  JsonWriter json(line);
  json.begin_object();
  json.member("event", "error");
  write_error_member(status, &json);
  json.end_object();
}

void write_ready_event(const Session& session, Text* line) {
  JsonWriter json(line);
  json.begin_object();
  json.member("event", "ready");
  json.member_integer("protocol", kProtocol);
  json.member("model", session.model().name);
  json.member("target", session.model().target);
  json.member("arch", cpu_architecture());
  json.member_integer("threads", session.thread_count());
  json.key("cpus");
  json.begin_array();
  for (int cpu : session.cpus()) json.integer(cpu);
  json.end_array();
  json.key("features");
  json.begin_array();
  const CpuFeatures features = CpuFeatures::detect();
  for (size_t i = 0; features.name(i) != nullptr; ++i) json.text(features.name(i));
  json.end_array();
  json.member_integer("pid", getpid());
  json.end_object();
}

void write_version(const cuvil_model* model, Text* line) {
  JsonWriter json(line);
  json.begin_object();
  json.member_integer("abi", CUVIL_ABI_VERSION);
  json.member_integer("protocol", kProtocol);
  json.member("model", model == nullptr ? "" : model->name);
  json.member("target", model == nullptr ? "" : model->target);
  json.member("arch", model == nullptr ? "" : model->arch);
  json.key("required_features");
  write_words(model == nullptr ? "" : model->required_features, &json);
  json.end_object();
}

void write_description(const cuvil_model& model, JsonWriter* json) {
  json->key("inputs");
  write_tensors(model, {model.inputs, model.input_count}, json);
  json->key("outputs");
  write_tensors(model, {model.outputs, model.output_count}, json);
  json->key("symbols");
  write_symbols(model, json);
  json->key("steps");
  json->begin_array();
  for (uint32_t i = 0; i < model.step_count; ++i) {
    json->begin_object();
    json->member("name", model.steps[i].name);
    json->member("kernel", model.steps[i].kernel);
    json->end_object();
  }
  json->end_array();
  json->member_unsigned("weights_bytes", model.weights_bytes);
}

uint64_t peak_rss_bytes() {
  // VmHWM first: ru_maxrss also remembers the program that was replaced by exec.
  Text status;
  if (read_small_file("/proc/self/status", &status)) {
    const std::string_view text = status.view();
    const size_t at = text.find("VmHWM:");
    if (at != std::string_view::npos) return strtoull(text.data() + at + 6, nullptr, 10) * 1024;
  }
  rusage usage = {};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) * 1024 : 0;
}

}  // namespace cuvil
