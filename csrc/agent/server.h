// The agent's protocol, version 1: requests are lines of JSON on standard input, each answered by one line on standard
// output that carries the request's "id". Paths are on this machine; tensors are raw little-endian row-major files.
//
//   {"id":1,"cmd":"describe"}
//   {"id":2,"cmd":"run","inputs":[{"path":..,"shape":[..]}],"outputs":["path"]}     ("outputs" may be left out)
//   {"id":3,"cmd":"verify","inputs":[..],"expected":[{"path":..,"shape":[..]}],"relative_tolerance":..,
//    "absolute_tolerance":..}
//   {"id":4,"cmd":"profile","inputs":[..],"warmup_runs":3,"runs":20,"max_duration_ns":..}
//   {"id":5,"cmd":"count","inputs":[..]}
//   {"id":6,"cmd":"quit"}
//
// Replies hold "ok": true and what was asked for, or "ok": false and an "error"; after an error the agent goes on.
#pragma once

#include "agent/arguments.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "runtime/session.h"

namespace cuvil {

/// Reads lines from a descriptor.
class LineReader {
 public:
  enum class Outcome { kLine, kTooLong, kEnd };
  static constexpr size_t kMaxLineBytes = size_t{1} << 20;

  explicit LineReader(int fd) : fd_(fd) {}
  /// The next line, valid until the next call. A line above the limit is skipped as a whole; a last line without its
  /// newline counts.
  Outcome next(std::string_view* line);

 private:
  int fd_;
  Array<char> buffer_;
  size_t begin_ = 0, end_ = 0;
  bool skipping_ = false;
  bool ended_ = false;
};

class Server {
 public:
  /// Maps the weights and opens the model that is linked into this program.
  Status open(const Arguments& arguments);
  /// Says that it is ready and answers requests until it is told to quit or its input ends; returns the exit code.
  int serve();

 private:
  /// Answers one line; false when there is no point in going on.
  bool answer(std::string_view line, bool* quit);
  Status dispatch(JsonValue request, JsonWriter* json, bool* quit);
  Status describe(JsonWriter* json);
  Status run(JsonValue request, RunMode mode, JsonWriter* json);
  Status verify(JsonValue request, JsonWriter* json);
  Status profile(JsonValue request, JsonWriter* json);
  void write_memory(JsonWriter* json);

  MappedFile weights_;
  Owned<Session> session_;
  JsonDocument document_;
};

}  // namespace cuvil
