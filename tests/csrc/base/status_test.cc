// Messages are cut, never overrun; a moved status keeps its parts.
#include "base/status.h"

#include <errno.h>
#include <string.h>

#include <string>

#include "check.h"

using cuvil::ErrorKind;
using cuvil::Status;

int main() {
  CHECK(Status().ok(), "default");
  Status status = Status(ErrorKind::kMissingFeature, "what").thing("thing %d", 7).found_errno(ENOENT).hint("hint");
  Status moved = std::move(status);
  CHECK(!moved.ok() && moved.kind() == ErrorKind::kMissingFeature, "kind");
  CHECK(strcmp(cuvil::kind_name(moved.kind()), "missing_feature") == 0, "%s", cuvil::kind_name(moved.kind()));
  CHECK(strcmp(cuvil::kind_name(ErrorKind::kDiskFull), "disk_full") == 0, "names in the order of the kinds");
  CHECK(strcmp(moved.error().thing, "thing 7") == 0 && strcmp(moved.error().hint, "hint") == 0, "parts");
  CHECK(strstr(moved.error().found, "No such file") != nullptr, "%s", moved.error().found);
  CHECK(moved.error().expected[0] == 0, "no part is empty text");

  const std::string ascii(5000, 'x');
  const Status cut = Status(ErrorKind::kInput, ascii.c_str()).found("%s", ascii.c_str());
  CHECK(strlen(cut.error().found) == sizeof(cut.error().found) - 1, "length %zu", strlen(cut.error().found));
  CHECK(strcmp(cut.error().found + strlen(cut.error().found) - 3, "...") == 0, "ends in dots");
  CHECK(strlen(cut.error().what) == sizeof(cut.error().what) - 1, "what is cut");

  // A cut in the middle of a character would make the whole reply unreadable.
  for (size_t lead = 0; lead < 4; ++lead) {
    std::string text(lead, 'a');
    while (text.size() < 2000) text += "é";
    const Status utf8 = Status(ErrorKind::kInput, "x").found("%s", text.c_str());
    const std::string found = utf8.error().found;
    const std::string body = found.substr(0, found.size() - 3);
    CHECK((body.size() - lead) % 2 == 0, "half a character after %zu", lead);
  }
  return cuvil::test::finish("status");
}
