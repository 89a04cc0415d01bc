#include "agent/server.h"

#include <unistd.h>

#include <cstring>

#include "agent/compare.h"
#include "agent/profile_run.h"
#include "agent/reply.h"
#include "agent/tensors.h"
#include "base/sha256.h"
#include "runtime/model_check.h"

namespace cuvil {
namespace {

Status hash_weights(const cuvil_model& model, const MappedFile& weights, const char* path) {
  Sha256 hash;
  hash.update(weights.data(), weights.size_bytes());
  uint8_t digest[kSha256Bytes];
  hash.finish(digest);
  if (memcmp(digest, model.weights_sha256, sizeof(digest)) == 0) return {};
  char expected[2 * kSha256Bytes + 1], found[2 * kSha256Bytes + 1];
  sha256_hex(model.weights_sha256, expected);
  sha256_hex(digest, found);
  return Status(ErrorKind::kArtifact, "the weights are damaged or of another model")
      .thing("weights %s", path)
      .expected("sha256 %s", expected)
      .found("sha256 %s", found)
      .hint("deploy the artifact again");
}

void write_shape(Shape shape, JsonWriter* json) {
  json->begin_array();
  for (int64_t extent : shape) json->integer(extent);
  json->end_array();
}

void write_output_shapes(const OutputMemory& outputs, uint32_t count, JsonWriter* json) {
  json->key("output_shapes");
  json->begin_array();
  for (uint32_t i = 0; i < count; ++i) write_shape(outputs.shape(i), json);
  json->end_array();
}

/// A number of the request, or `fallback` when it is absent; it must lie in [least, most].
Status read_integer(JsonValue request, const char* key, int64_t fallback, int64_t least, int64_t most, int64_t* out) {
  const JsonValue value = request.find(key);
  *out = value.present() ? value.integer() : fallback;
  if ((!value.present() || value.is(JsonType::kInteger)) && *out >= least && *out <= most) return {};
  return Status(ErrorKind::kUsage, "wrong request")
      .thing("%s", key)
      .expected("an integer from %lld to %lld", static_cast<long long>(least), static_cast<long long>(most));
}

Status read_tolerance(JsonValue request, const char* key, double* out) {
  const JsonValue value = request.find(key);
  *out = value.number();
  if ((value.is(JsonType::kNumber) || value.is(JsonType::kInteger)) && *out >= 0) return {};
  return Status(ErrorKind::kUsage, "wrong request").thing("%s", key).expected("a number of at least 0");
}

Status write_output_files(JsonValue paths, const OutputMemory& outputs) {
  if (!paths.present()) return {};
  if (!paths.is(JsonType::kArray) || paths.size() != outputs.arrays().size()) {
    return Status(ErrorKind::kUsage, "wrong request")
        .thing("outputs")
        .expected("a list of %llu paths", static_cast<unsigned long long>(outputs.arrays().size()));
  }
  uint32_t i = 0;
  for (JsonValue path = paths.first(); path.present(); path = path.next(), ++i) {
    if (!path.is(JsonType::kString)) {
      return Status(ErrorKind::kUsage, "wrong request").thing("outputs").expected("paths that are strings");
    }
    CUVIL_RETURN_IF_ERROR(write_tensor_file(path.text(), outputs.arrays()[i].data, outputs.arrays()[i].size_bytes));
  }
  return {};
}

void write_difference(const char* name, Shape shape, const Difference& difference, JsonWriter* json) {
  json->begin_object();
  json->member("name", name);
  json->key("max_abs_error");
  json->number(difference.max_abs_error);
  json->key("max_rel_error");
  json->number(difference.max_rel_error);
  json->member_unsigned("mismatches", difference.mismatches);
  json->member_unsigned("nan_count", difference.nan_count);
  json->key("shape");
  write_shape(shape, json);
  json->end_object();
}

Status check_expected_shape(const cuvil_tensor& tensor, Shape computed, Shape expected) {
  bool equal = computed.size() == expected.size();
  for (size_t axis = 0; equal && axis < computed.size(); ++axis) equal = computed[axis] == expected[axis];
  if (equal) return {};
  Text found, wanted;
  append_shape(computed, &found);
  append_shape(expected, &wanted);
  return Status(ErrorKind::kShape, "an expected output has another shape than the computed one")
      .thing("output %s", tensor.name)
      .expected("%s", wanted.c_str())
      .found("%s", found.c_str());
}

}  // namespace

Status Server::open(const Arguments& arguments) {
  const cuvil_model* model = cuvil_model_query(CUVIL_ABI_VERSION);
  CUVIL_RETURN_IF_ERROR(check_model(model));
  CUVIL_RETURN_IF_ERROR(weights_.open_whole(arguments.weights, ErrorKind::kArtifact, "weights"));
  if (arguments.check_weights) CUVIL_RETURN_IF_ERROR(hash_weights(*model, weights_, arguments.weights));
  CpuRequest cpus;
  cpus.threads = arguments.threads;
  cpus.cpus = arguments.cpus.span();
  return Session::open(model, {weights_.data(), weights_.size_bytes()}, cpus, &session_);
}

int Server::serve() {
  {
    Text line;
    write_ready_event(*session_, &line);
    if (!send_line(&line)) return 1;
  }
  LineReader reader(STDIN_FILENO);
  bool quit = false;
  for (std::string_view line; !quit;) {
    const LineReader::Outcome outcome = reader.next(&line);
    if (outcome == LineReader::Outcome::kEnd) return 0;
    if (outcome == LineReader::Outcome::kTooLong) line = "\"a request that is too long\"";
    if (!answer(line, &quit)) return 1;
  }
  return 0;
}

bool Server::answer(std::string_view line, bool* quit) {
  Status status = document_.parse(line);
  const JsonValue request = status.ok() ? document_.root() : JsonValue();
  const JsonValue id = request.find("id");
  Text reply;
  JsonWriter json(&reply);
  const auto begin = [&](bool ok) {
    reply.clear();
    json = JsonWriter(&reply);
    json.begin_object();
    json.key("id");
    id.is(JsonType::kInteger) ? json.integer(id.integer()) : json.null();
    json.member_boolean("ok", ok);
  };
  begin(true);
  if (status.ok()) status = dispatch(request, &json, quit);
  if (status.ok() && reply.failed()) status = Status::out_of_memory("the reply", reply.size());
  if (!status.ok()) {
    begin(false);
    write_error_member(status, &json);
  }
  json.end_object();
  return send_line(&reply);
}

Status Server::dispatch(JsonValue request, JsonWriter* json, bool* quit) {
  if (!request.is(JsonType::kObject) || !request.find("id").is(JsonType::kInteger)) {
    return Status(ErrorKind::kUsage, "wrong request").expected("an object with an integer \"id\", in at most 1 MiB");
  }
  const std::string_view command = request.find("cmd").text();
  if (command == "describe") return describe(json);
  if (command == "run") return run(request, RunMode::kPlain, json);
  if (command == "verify") return verify(request, json);
  if (command == "profile") return profile(request, json);
  if (command == "count") return run(request, RunMode::kMarked, json);
  if (command == "quit") {
    *quit = true;
    return {};
  }
  return Status(ErrorKind::kUsage, "unknown command")
      .thing("cmd")
      .expected("describe, run, verify, profile, count or quit")
      .found("%s", request.find("cmd").text());
}

Status Server::describe(JsonWriter* json) {
  write_description(session_->model(), json);
  return {};
}

void Server::write_memory(JsonWriter* json) {
  const SessionMemory memory = session_->memory();
  json->member_unsigned("arena_bytes", memory.arena_bytes);
  json->member_unsigned("arena_lower_bound_bytes", memory.arena_lower_bound_bytes);
  json->member_unsigned("scratch_bytes", memory.scratch_bytes);
  json->member_unsigned("peak_rss_bytes", peak_rss_bytes());
}

Status Server::run(JsonValue request, RunMode mode, JsonWriter* json) {
  const cuvil_model& model = session_->model();
  TensorFiles inputs;
  OutputMemory outputs;
  uint64_t duration_ns = 0;
  CUVIL_RETURN_IF_ERROR(inputs.open(request.find("inputs"), {model.inputs, model.input_count}, "inputs"));
  CUVIL_RETURN_IF_ERROR(outputs.allocate(session_.get(), inputs.arrays()));
  CUVIL_RETURN_IF_ERROR(session_->run(inputs.arrays(), outputs.arrays(), mode, &duration_ns));
  CUVIL_RETURN_IF_ERROR(write_output_files(request.find("outputs"), outputs));
  json->member_unsigned("duration_ns", duration_ns);
  write_output_shapes(outputs, model.output_count, json);
  write_memory(json);
  return {};
}

Status Server::verify(JsonValue request, JsonWriter* json) {
  const cuvil_model& model = session_->model();
  TensorFiles inputs, expected;
  OutputMemory outputs;
  Tolerance tolerance;
  CUVIL_RETURN_IF_ERROR(read_tolerance(request, "relative_tolerance", &tolerance.relative));
  CUVIL_RETURN_IF_ERROR(read_tolerance(request, "absolute_tolerance", &tolerance.absolute));
  CUVIL_RETURN_IF_ERROR(inputs.open(request.find("inputs"), {model.inputs, model.input_count}, "inputs"));
  CUVIL_RETURN_IF_ERROR(expected.open(request.find("expected"), {model.outputs, model.output_count}, "expected"));
  CUVIL_RETURN_IF_ERROR(outputs.allocate(session_.get(), inputs.arrays()));
  CUVIL_RETURN_IF_ERROR(session_->run(inputs.arrays(), outputs.arrays()));
  bool passed = true;
  json->key("outputs");
  json->begin_array();
  for (uint32_t i = 0; i < model.output_count; ++i) {
    CUVIL_RETURN_IF_ERROR(check_expected_shape(model.outputs[i], outputs.shape(i), expected.arrays()[i].shape));
    uint64_t count = 0;
    (void)element_count(outputs.shape(i), &count);
    const Difference difference =
        compare_tensors(model.outputs[i].dtype, outputs.arrays()[i].data, expected.arrays()[i].data, count, tolerance);
    passed = passed && difference.mismatches == 0;
    write_difference(model.outputs[i].name, outputs.shape(i), difference, json);
  }
  json->end_array();
  json->member_boolean("passed", passed);
  return {};
}

Status Server::profile(JsonValue request, JsonWriter* json) {
  const cuvil_model& model = session_->model();
  TensorFiles inputs;
  OutputMemory outputs;
  ProfileRequest wish;
  CUVIL_RETURN_IF_ERROR(read_integer(request, "warmup_runs", 3, 0, 1'000'000, &wish.warmup_runs));
  CUVIL_RETURN_IF_ERROR(read_integer(request, "runs", 20, 1, 1'000'000, &wish.runs));
  CUVIL_RETURN_IF_ERROR(read_integer(request, "max_duration_ns", INT64_MAX, 1, INT64_MAX, &wish.max_duration_ns));
  CUVIL_RETURN_IF_ERROR(inputs.open(request.find("inputs"), {model.inputs, model.input_count}, "inputs"));
  CUVIL_RETURN_IF_ERROR(outputs.allocate(session_.get(), inputs.arrays()));
  ProfileTimes times;
  CUVIL_RETURN_IF_ERROR(profile_runs(session_.get(), inputs.arrays(), outputs.arrays(), wish, &times));
  write_profile_times(times, model.step_count, json);
  json->member_integer("threads", session_->thread_count());
  write_memory(json);
  return {};
}

}  // namespace cuvil
