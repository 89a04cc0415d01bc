#include "agent/tensors.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "runtime/dtypes.h"

namespace cuvil {
namespace {

Status bad_request(const char* what, const char* name, const char* expected) {
  return Status(ErrorKind::kUsage, "wrong request").thing("%s: %s", what, name).expected("%s", expected);
}

}  // namespace

TensorFiles::~TensorFiles() {
  for (uint32_t i = 0; i < count_; ++i) files_[i].~MappedFile();
  free(static_cast<void*>(files_));
}

Status TensorFiles::open(JsonValue list, std::span<const cuvil_tensor> tensors, const char* what) {
  if (!list.is(JsonType::kArray) || list.size() != tensors.size()) {
    return Status(ErrorKind::kInput, "wrong number of tensors")
        .thing("%s of the request", what)
        .expected("a list of %llu", static_cast<unsigned long long>(tensors.size()))
        .found("%u", list.size());
  }
  files_ = static_cast<MappedFile*>(malloc(tensors.size() * sizeof(MappedFile) + 1));
  if (files_ == nullptr) return Status::out_of_memory("the list of files", tensors.size() * sizeof(MappedFile));
  for (JsonValue item = list.first(); item.present(); item = item.next()) {
    MappedFile* file = new (&files_[count_]) MappedFile();
    CUVIL_RETURN_IF_ERROR(open_one(item, tensors[count_++], what, file));
  }
  const int64_t* extents = extents_.data();
  for (uint32_t i = 0; i < count_; ++i) {
    if (!arrays_.push({files_[i].data(), files_[i].size_bytes(), {extents, ranks_[i]}})) {
      return Status::out_of_memory("the list of tensors", count_ * sizeof(InputArray));
    }
    extents += ranks_[i];
  }
  return {};
}

Status TensorFiles::read_shape(JsonValue list, const cuvil_tensor& tensor, const char* what) {
  if (!list.is(JsonType::kArray)) return bad_request(what, tensor.name, "\"shape\": a list of integers");
  for (JsonValue extent = list.first(); extent.present(); extent = extent.next()) {
    if (!extent.is(JsonType::kInteger) || extent.integer() < 0) {
      return bad_request(what, tensor.name, "extents that are integers of at least 0");
    }
    if (!extents_.push(extent.integer())) return Status::out_of_memory("a shape", extents_.size() * 8);
  }
  return ranks_.push(list.size()) ? Status() : Status::out_of_memory("a shape", ranks_.size() * 4);
}

Status TensorFiles::open_one(JsonValue item, const cuvil_tensor& tensor, const char* what, MappedFile* file) {
  const JsonValue path = item.find("path");
  if (!path.is(JsonType::kString)) return bad_request(what, tensor.name, "\"path\": a string");
  const size_t first_extent = extents_.size();
  CUVIL_RETURN_IF_ERROR(read_shape(item.find("shape"), tensor, what));
  uint64_t bytes = 0;
  const Shape shape = {extents_.data() + first_extent, extents_.size() - first_extent};
  if (!element_count(shape, &bytes) || !checked_multiply(bytes, uint64_t{dtype_bytes(tensor.dtype)}, &bytes)) {
    return bad_request(what, tensor.name, "a shape of less than 2^63 bytes");
  }
  CUVIL_RETURN_IF_ERROR(file->open_whole(path.text(), ErrorKind::kInput, what));
  if (file->size_bytes() == bytes) return {};
  return Status(ErrorKind::kInput, "wrong size of a file")
      .thing("%s %s", tensor.name, path.text())
      .expected("%llu bytes: the shape, in %s", static_cast<unsigned long long>(bytes), dtype_name(tensor.dtype))
      .found("%llu bytes", static_cast<unsigned long long>(file->size_bytes()));
}

Status OutputMemory::allocate(Session* session, std::span<const InputArray> inputs) {
  model_ = &session->model();
  Array<Shape> shapes;
  for (const InputArray& input : inputs) {
    if (!shapes.push(input.shape)) return Status::out_of_memory("the shapes", shapes.size() * sizeof(Shape));
  }
  CUVIL_RETURN_IF_ERROR(session->output_shapes(shapes.span(), &extents_));
  Array<uint64_t> offsets;
  uint64_t total = 0;
  for (uint32_t i = 0; i < model_->output_count; ++i) {
    uint64_t bytes = 0;
    if (!element_count(shape(i), &bytes)) bytes = UINT64_MAX;
    const bool fits = checked_multiply(bytes, uint64_t{dtype_bytes(model_->outputs[i].dtype)}, &bytes);
    if (!offsets.push(total) || !arrays_.push({nullptr, bytes}) || !fits || !checked_add(total, bytes, &total) ||
        !checked_round_up(total, CUVIL_ALIGNMENT, &total)) {
      return Status::out_of_memory("the outputs", total);
    }
  }
  if (!pages_.allocate(total)) return Status::out_of_memory("the outputs", total);
  for (uint32_t i = 0; i < model_->output_count; ++i) arrays_[i].data = pages_.data() + offsets[i];
  return {};
}

Shape OutputMemory::shape(uint32_t output) const {
  const int64_t* extents = extents_.data();
  for (uint32_t i = 0; i < output; ++i) extents += model_->outputs[i].rank;
  return {extents, model_->outputs[output].rank};
}

Status write_tensor_file(const char* path, const void* data, uint64_t bytes) {
  FileDescriptor file(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  int error_number = file.get() < 0 ? errno : write_all(file.get(), data, bytes);
  const int close_error = file.close();
  if (error_number == 0) error_number = close_error;
  if (error_number == 0) return {};
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  return Status(full ? ErrorKind::kDiskFull : ErrorKind::kRuntimeFailure, "cannot write an output")
      .thing("file %s", path)
      .expected("%llu bytes", static_cast<unsigned long long>(bytes))
      .found_errno(error_number);
}

}  // namespace cuvil
