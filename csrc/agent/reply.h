// What the agent writes: lines of JSON that describe a model, a machine or a failure.
#pragma once

#include "abi/cuvil_abi.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "runtime/session.h"

namespace cuvil {

constexpr int kProtocol = 1;

/// Ends the line and writes it to standard output at once; false when nobody reads it, or memory for it was lacking.
[[nodiscard]] bool send_line(Text* line);

/// Adds the member "error": {kind, what, thing, expected, found, hint}.
void write_error_member(const Status& status, JsonWriter* json);

/// {"event":"error","error":{..}}: the agent cannot start.
void write_error_event(const Status& status, Text* line);

/// {"event":"ready",..}: the first line of an agent that can run its model.
void write_ready_event(const Session& session, Text* line);

/// {"abi":1,"model":..}; `model` may be null (of a newer version).
void write_version(const cuvil_model* model, Text* line);

/// Members that describe a model: inputs, outputs, symbols, steps, weights_bytes.
void write_description(const cuvil_model& model, JsonWriter* json);

/// The most memory that this process ever had resident.
uint64_t peak_rss_bytes();

}  // namespace cuvil
