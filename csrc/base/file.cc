#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuvil {

int FileDescriptor::close() {
  const int fd = release();
  return fd >= 0 && ::close(fd) != 0 ? errno : 0;
}

int write_all(int fd, const void* data, size_t bytes) {
  const char* p = static_cast<const char*>(data);
  while (bytes != 0) {
    const ssize_t written = write(fd, p, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    p += written;
    bytes -= static_cast<size_t>(written);
  }
  return 0;
}

bool read_small_file(const char* path, Text* out) {
  constexpr size_t kLimitBytes = 65536;
  FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return false;
  out->clear();
  char piece[1024];
  for (;;) {
    const ssize_t got = read(file.get(), piece, sizeof(piece));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 || out->size() > kLimitBytes) return false;
    if (got == 0) return !out->failed();
    out->append({piece, static_cast<size_t>(got)});
  }
}

Status MappedFile::open_descriptor(const char* path, ErrorKind kind, const char* thing, FileDescriptor* file,
                                   uint64_t* bytes) {
  *file = FileDescriptor(::open(path, O_RDONLY | O_CLOEXEC));
  struct stat info;
  if (file->get() < 0 || fstat(file->get(), &info) != 0) {
    const int error_number = errno;
    return Status(kind, "cannot be read").thing("%s %s", thing, path).found_errno(error_number);
  }
  if (!S_ISREG(info.st_mode)) {
    return Status(kind, "is not a file").thing("%s %s", thing, path).expected("a regular file");
  }
  *bytes = static_cast<uint64_t>(info.st_size);
  return {};
}

Status MappedFile::open(const char* path, uint64_t offset, uint64_t length, bool populate, ErrorKind kind,
                        const char* thing) {
  release();
  FileDescriptor file;
  uint64_t file_bytes = 0, end = 0;
  CUVIL_RETURN_IF_ERROR(open_descriptor(path, kind, thing, &file, &file_bytes));
  if (!checked_add(offset, length, &end) || end > file_bytes) {
    return Status(kind, "is too short")
        .thing("%s %s", thing, path)
        .expected("%llu bytes from offset %llu on", static_cast<unsigned long long>(length),
                  static_cast<unsigned long long>(offset))
        .found("%llu bytes in the file", static_cast<unsigned long long>(file_bytes))
        .hint("the file was cut off: copy or compile it again");
  }
  return map(file.get(), offset, length, populate, kind, thing);
}

Status MappedFile::open_whole(const char* path, ErrorKind kind, const char* thing) {
  release();
  FileDescriptor file;
  uint64_t file_bytes = 0;
  CUVIL_RETURN_IF_ERROR(open_descriptor(path, kind, thing, &file, &file_bytes));
  return map(file.get(), 0, file_bytes, false, kind, thing);
}

Status MappedFile::map(int fd, uint64_t offset, uint64_t length, bool populate, ErrorKind kind, const char* thing) {
  alignas(64) static constexpr uint8_t kNothing[64] = {};
  data_ = kNothing;
  if (length == 0) return {};
  const uint64_t lead = offset % page_bytes();
  const int flags = MAP_PRIVATE | (populate ? MAP_POPULATE : 0);
  void* mapping = length + lead > SIZE_MAX / 2
                      ? MAP_FAILED
                      : mmap(nullptr, length + lead, PROT_READ, flags, fd, static_cast<off_t>(offset - lead));
  if (mapping == MAP_FAILED) {
    const int error_number = errno;
    if (error_number == ENOMEM) return Status::out_of_memory(thing, length);
    return Status(kind, "cannot be mapped").thing("%s", thing).found_errno(error_number);
  }
  mapping_ = mapping;
  mapping_bytes_ = length + lead;
  data_ = static_cast<const uint8_t*>(mapping) + lead;
  size_bytes_ = length;
  if (!populate) madvise(mapping, mapping_bytes_, MADV_WILLNEED);
  return {};
}

void MappedFile::release() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  mapping_ = nullptr;
  data_ = nullptr;
  mapping_bytes_ = size_bytes_ = 0;
}

}  // namespace cuvil
