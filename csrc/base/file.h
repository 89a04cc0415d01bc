// Files by descriptor: small text files, whole writes, read-only mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

namespace cuvil {

/// The one owner of a file descriptor; may be empty.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { close(); }
  /// 0, or the errno with which closing failed (then data may not have reached the disk).
  int close();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

/// Writes everything, in as many parts as it takes; 0 or an errno.
[[nodiscard]] int write_all(int fd, const void* data, size_t bytes);

/// Reads a small text file (at most 64 KiB, as in /proc and /sys); false when it is absent, unreadable or too big.
[[nodiscard]] bool read_small_file(const char* path, Text* out);

/// A part of a file, mapped read-only and private; released with the object.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { release(); }

  /// Maps `length` bytes from `offset` on of the file at `path`. `kind` is the kind of error that failures have,
  /// `thing` the name of the content in messages. With `populate` the pages are brought in now, which costs less than
  /// one fault for each later.
  Status open(const char* path, uint64_t offset, uint64_t length, bool populate, ErrorKind kind, const char* thing);
  /// Maps the whole file.
  Status open_whole(const char* path, ErrorKind kind, const char* thing);
  void release();

  const uint8_t* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  Status open_descriptor(const char* path, ErrorKind kind, const char* thing, FileDescriptor* file, uint64_t* bytes);
  Status map(int fd, uint64_t offset, uint64_t length, bool populate, ErrorKind kind, const char* thing);

  const uint8_t* data_ = nullptr;
  uint64_t size_bytes_ = 0;
  void* mapping_ = nullptr;
  uint64_t mapping_bytes_ = 0;
};

}  // namespace cuvil
