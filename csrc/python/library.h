// A compiled model as a shared library, loaded from bytes that were checked before.
#pragma once

#include <cstdint>
#include <span>

#include "abi/cuvil_abi.h"
#include "base/file.h"
#include "base/status.h"

namespace cuvil {

/// Loads a library from memory: its bytes go into a sealed memory file, so that nobody can change them between the
/// check and the mapping, nor afterwards. Where the system has none, they go into a temporary file of this user alone.
class Library {
 public:
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  /// `name` is for messages and for debuggers. The library's code may run only after `model()` has been checked.
  Status open(std::span<const uint8_t> bytes, const char* name);
  /// Null when the library is of a newer interface version.
  const cuvil_model* model() const { return model_; }

 private:
  Status load(const char* path, const char* name);

  // Kept open as long as the library is: the loader knows libraries by path, and a path with the number of a closed
  // file could later name another library.
  FileDescriptor file_;
  void* handle_ = nullptr;
  const cuvil_model* model_ = nullptr;
};

}  // namespace cuvil
