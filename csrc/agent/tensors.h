// Tensors of a request: files on this machine, and memory for what comes out.
#pragma once

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/status.h"
#include "runtime/session.h"

namespace cuvil {

/// The tensors that a request names, mapped from raw little-endian row-major files.
class TensorFiles {
 public:
  ~TensorFiles();
  /// Reads [{"path":..,"shape":[..]},..], one for each of `tensors`; `what` is the key, for messages ("inputs").
  Status open(JsonValue list, std::span<const cuvil_tensor> tensors, const char* what);
  std::span<const InputArray> arrays() const { return arrays_.span(); }

 private:
  Status open_one(JsonValue item, const cuvil_tensor& tensor, const char* what, MappedFile* file);
  Status read_shape(JsonValue list, const cuvil_tensor& tensor, const char* what);

  MappedFile* files_ = nullptr;
  uint32_t count_ = 0;
  Array<int64_t> extents_;  // of all tensors, one after the other
  Array<uint32_t> ranks_;
  Array<InputArray> arrays_;
};

/// Memory for all outputs of a model at the shapes of a request.
class OutputMemory {
 public:
  Status allocate(Session* session, std::span<const InputArray> inputs);
  std::span<const OutputArray> arrays() const { return arrays_.span(); }
  Shape shape(uint32_t output) const;

 private:
  const cuvil_model* model_ = nullptr;
  Pages pages_;
  Array<int64_t> extents_;
  Array<OutputArray> arrays_;
};

/// Writes `bytes` to a new file at `path`; a full disk is an error of kind disk_full.
Status write_tensor_file(const char* path, const void* data, uint64_t bytes);

}  // namespace cuvil
