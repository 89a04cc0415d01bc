#include "python/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cuvil {
namespace {

Status cannot_load(const char* name, const char* found) {
  return Status(ErrorKind::kArtifact, "the compiled model cannot be loaded")
      .thing("library %s", name)
      .found("%s", found)
      .hint("compile the model again; if it stays, this system does not allow programs to load code");
}

Status cannot_copy(const char* name, int error_number) {
  if (error_number == ENOMEM || error_number == ENOSPC) {
    return Status(ErrorKind::kOutOfMemory, "no memory to load the compiled model").thing("library %s", name);
  }
  return Status(ErrorKind::kArtifact, "the compiled model cannot be copied to where it is loaded from")
      .thing("library %s", name)
      .found_errno(error_number)
      .hint("set TMPDIR to a folder that can be written and allows programs (no noexec)");
}

/// A file in memory with these bytes, sealed; empty when the system has no such files.
FileDescriptor sealed_file(std::span<const uint8_t> bytes, const char* name) {
  FileDescriptor file(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.get() < 0 || write_all(file.get(), bytes.data(), bytes.size()) != 0) return {};
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (fcntl(file.get(), F_ADD_SEALS, seals) != 0) return {};
  return file;
}

}  // namespace

Status Library::open(std::span<const uint8_t> bytes, const char* name) {
  file_ = sealed_file(bytes, name);
  Text path;
  path.append_format("/proc/self/fd/%d", file_.get());
  if (file_.get() >= 0 && access(path.c_str(), R_OK) == 0) return load(path.c_str(), name);
  const char* folder = getenv("TMPDIR");
  path.clear();
  path.append_format("%s/cuvil-XXXXXX", folder == nullptr || *folder == 0 ? "/tmp" : folder);
  if (path.failed()) return Status::out_of_memory("a path", path.size());
  char* temporary = const_cast<char*>(path.c_str());
  file_ = FileDescriptor(mkostemp(temporary, O_CLOEXEC));
  if (file_.get() < 0) return cannot_copy(name, errno);
  const int error_number = write_all(file_.get(), bytes.data(), bytes.size());
  Status status = error_number == 0 ? load(temporary, name) : cannot_copy(name, error_number);
  unlink(temporary);
  return status;
}

Status Library::load(const char* path, const char* name) {
  handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) return cannot_load(name, dlerror());
  const auto query = reinterpret_cast<cuvil_model_query_fn>(dlsym(handle_, "cuvil_model_query"));
  if (query == nullptr) return cannot_load(name, "it has no function cuvil_model_query");
  model_ = query(CUVIL_ABI_VERSION);
  return {};
}

Library::~Library() {
  if (handle_ == nullptr) return;
  Text path;
  path.append_format("/proc/self/fd/%d", file_.get());
  dlclose(handle_);
  // A library that the loader keeps in spite of dlclose keeps its name, too: then the number must stay taken.
  if (void* kept = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD); kept != nullptr) {
    dlclose(kept);
    (void)file_.release();
  }
}

}  // namespace cuvil
