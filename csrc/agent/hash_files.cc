#include "agent/hash_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "agent/reply.h"
#include "base/file.h"
#include "base/json.h"

namespace cuvil {

Status hash_file(const char* path, char text[2 * kSha256Bytes + 1]) {
  FileDescriptor file(open(path, O_RDONLY | O_CLOEXEC));
  Sha256 hash;
  uint8_t piece[65536];
  for (;;) {
    const ssize_t got = file.get() < 0 ? -1 : read(file.get(), piece, sizeof(piece));
    if (got < 0 && file.get() >= 0 && errno == EINTR) continue;
    if (got < 0) return Status(ErrorKind::kInput, "cannot be read").thing("file %s", path).found_errno(errno);
    if (got == 0) break;
    hash.update(piece, static_cast<size_t>(got));
  }
  uint8_t digest[kSha256Bytes];
  hash.finish(digest);
  sha256_hex(digest, text);
  return {};
}

int print_hashes(std::span<char* const> files) {
  int exit_code = 0;
  for (const char* path : files) {
    char text[2 * kSha256Bytes + 1];
    const Status status = hash_file(path, text);
    Text line;
    JsonWriter json(&line);
    json.begin_object();
    json.member("file", path);
    if (status.ok()) {
      json.member("sha256", text);
    } else {
      exit_code = 1;
      write_error_member(status, &json);
    }
    json.end_object();
    if (!send_line(&line)) return 1;
  }
  return exit_code;
}

}  // namespace cuvil
