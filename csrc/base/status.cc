#include "base/status.h"

#include <cstdlib>
#include <cstring>
#include <utility>

namespace cuvil {
namespace {

constexpr ErrorText kNoMemoryLeft = {
    ErrorKind::kOutOfMemory,
    "out of memory",
    "the message of an error",
    "",
    "",
    "end other programs on this machine, or use one with more memory",
};

constexpr const char* kKindNames[] = {
    "none",
    "usage",
    "input",
    "shape",
    "artifact",
    "wrong_architecture",
    "missing_feature",
    "runtime_failure",
    "out_of_memory",
    "disk_full",
};

}  // namespace

const char* kind_name(ErrorKind kind) { return kKindNames[static_cast<uint8_t>(kind)]; }

Status::Status(ErrorKind kind, const char* what) : kind_(kind) {
  text_ = static_cast<ErrorText*>(calloc(1, sizeof(ErrorText)));
  if (text_ == nullptr) {
    kind_ = ErrorKind::kOutOfMemory;
    return;
  }
  text_->kind = kind;
  strncpy(text_->what, what, sizeof(text_->what) - 1);
}

Status::Status(Status&& other) noexcept { *this = std::move(other); }

Status& Status::operator=(Status&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(text_, other.text_);
  return *this;
}

Status::~Status() { free(text_); }

const ErrorText& Status::error() const { return text_ == nullptr ? kNoMemoryLeft : *text_; }

#define CUVIL_DEFINE_PART(part)                                          \
  Status&& Status::part(const char* format, ...)&& {                     \
    if (text_ == nullptr) return std::move(*this);                       \
    va_list arguments;                                                   \
    va_start(arguments, format);                                         \
    format_bounded(text_->part, sizeof(text_->part), format, arguments); \
    va_end(arguments);                                                   \
    return std::move(*this);                                             \
  }
CUVIL_DEFINE_PART(thing)
CUVIL_DEFINE_PART(expected)
CUVIL_DEFINE_PART(found)
CUVIL_DEFINE_PART(hint)
#undef CUVIL_DEFINE_PART

Status&& Status::found_errno(int error_number) && { return std::move(*this).found("%s", strerror(error_number)); }

Status Status::out_of_memory(const char* thing, uint64_t bytes) {
  return Status(ErrorKind::kOutOfMemory, "out of memory")
      .thing("%s", thing)
      .expected("%llu bytes of memory", static_cast<unsigned long long>(bytes))
      .found("the operating system refused them")
      .hint("use smaller inputs or a smaller batch, or a machine with more memory");
}

}  // namespace cuvil
