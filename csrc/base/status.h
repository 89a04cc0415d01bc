// How functions fail: a Status, which is either ok or an error in five parts that a user can read.
#pragma once

#include <cstdint>

#include "base/text.h"

namespace cuvil {

/// The kinds of failures. Their names are those of the Python errors: `missing_feature` is MissingFeatureError.
enum class ErrorKind : uint8_t {
  kNone,
  kUsage,
  kInput,
  kShape,
  kArtifact,
  kWrongArchitecture,
  kMissingFeature,
  kRuntimeFailure,
  kOutOfMemory,
  kDiskFull,
};

/// The kind as text: "missing_feature".
const char* kind_name(ErrorKind kind);

/// The parts of an error; a part without text is empty.
struct ErrorText {
  ErrorKind kind;
  char what[256];
  char thing[256];
  char expected[512];
  char found[512];
  char hint[384];
};

/// Ok, or an error. Making an error may fail for lack of memory; then it is an error that says exactly that.
class [[nodiscard]] Status {
 public:
  Status() = default;
  /// An error; `what` is the failure in a short clause ("cannot map the weights").
  Status(ErrorKind kind, const char* what);
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  Status(Status&& other) noexcept;
  Status& operator=(Status&& other) noexcept;
  ~Status();

  /// Memory for `thing` could not be had.
  static Status out_of_memory(const char* thing, uint64_t bytes);

  bool ok() const { return kind_ == ErrorKind::kNone; }
  ErrorKind kind() const { return kind_; }
  /// The parts; only for a status that is not ok.
  const ErrorText& error() const;

  Status&& thing(const char* format, ...) && __attribute__((format(printf, 2, 3)));
  Status&& expected(const char* format, ...) && __attribute__((format(printf, 2, 3)));
  Status&& found(const char* format, ...) && __attribute__((format(printf, 2, 3)));
  Status&& hint(const char* format, ...) && __attribute__((format(printf, 2, 3)));
  /// The reason that the operating system gave (an errno) becomes the `found` part.
  Status&& found_errno(int error_number) &&;

 private:
  ErrorKind kind_ = ErrorKind::kNone;
  ErrorText* text_ = nullptr;
};

}  // namespace cuvil

#define CUVIL_RETURN_IF_ERROR(expression)                                                        \
  do {                                                                                           \
    if (::cuvil::Status cuvil_status_ = (expression); !cuvil_status_.ok()) return cuvil_status_; \
  } while (false)
