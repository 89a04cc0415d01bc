// Weights are a part of a file: offsets that are no multiple of a page, files that are cut off, things that are no
// files.
#include "base/file.h"

#include <string.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "check.h"

using cuvil::ErrorKind;
using cuvil::MappedFile;

int main() {
  char path[] = "/tmp/cuvil-file-test-XXXXXX";
  cuvil::FileDescriptor file(mkstemp(path));
  std::string content;
  for (int i = 0; i < 20000; ++i) content += static_cast<char>(i * 31);
  CHECK(cuvil::write_all(file.get(), content.data(), content.size()) == 0, "write");

  for (bool populate : {false, true}) {
    for (uint64_t offset : {0, 64, 4096, 4160, 19999, 20000}) {
      MappedFile map;
      const uint64_t length = content.size() - offset;
      CHECK(map.open(path, offset, length, populate, ErrorKind::kArtifact, "x").ok(), "offset %llu",
            static_cast<unsigned long long>(offset));
      CHECK(map.size_bytes() == length && memcmp(map.data(), content.data() + offset, length) == 0, "content");
      CHECK(map.data() != nullptr, "an empty part has an address");
    }
  }
  MappedFile map;
  CHECK(!map.open(path, 1, content.size(), true, ErrorKind::kArtifact, "x").ok(), "one byte too many");
  CHECK(!map.open(path, UINT64_MAX, 2, true, ErrorKind::kArtifact, "x").ok(), "an end that wraps");
  CHECK(map.data() == nullptr, "nothing held after a failure");
  CHECK(map.open_whole("/nonexistent", ErrorKind::kInput, "x").kind() == ErrorKind::kInput, "absent");
  CHECK(!map.open_whole("/tmp", ErrorKind::kInput, "x").ok(), "a folder");
  CHECK(!map.open_whole("/dev/zero", ErrorKind::kInput, "x").ok(), "a device");
  CHECK(map.open_whole(path, ErrorKind::kInput, "x").ok() && map.size_bytes() == content.size(), "whole");

  cuvil::Text text;
  CHECK(cuvil::read_small_file(path, &text) && text.view() == content, "small file");
  CHECK(!cuvil::read_small_file("/dev/zero", &text), "a file without end");
  unlink(path);
  return cuvil::test::finish("file");
}
