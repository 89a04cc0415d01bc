// Command lines come from scripts and from people.
#include "agent/arguments.h"

#include <vector>

#include "check.h"

using cuvil::Arguments;

namespace {

cuvil::Status parse(std::vector<const char*> words, Arguments* out) {
  words.insert(words.begin(), "agent");
  std::vector<char*> argv;
  for (const char* word : words) argv.push_back(const_cast<char*>(word));
  argv.push_back(nullptr);
  return cuvil::parse_arguments(static_cast<int>(words.size()), argv.data(), out);
}

}  // namespace

int main() {
  Arguments serve;
  CHECK(parse({"--weights", "w", "--threads", "4", "--cpus", "4-6,1"}, &serve).ok(), "serve");
  CHECK(serve.threads == 4 && serve.cpus.size() == 4 && serve.cpus[0] == 4 && serve.cpus[3] == 1, "values");
  Arguments hash;
  CHECK(parse({"--sha256", "a", "--weights"}, &hash).ok() && hash.files.size() == 2, "files may look like options");
  const std::vector<const char*> bad[] = {{},
                                          {"--weights"},
                                          {"--weights", "w", "--threads", "0"},
                                          {"--weights", "w", "--threads", "-1"},
                                          {"--weights", "w", "--threads", "2x"},
                                          {"--weights", "w", "--threads", "99999999999999999999"},
                                          {"--weights", "w", "--cpus", ""},
                                          {"--weights", "w", "--cpus", "3-1"},
                                          {"--weights", "w", "--cpus", "1,"},
                                          {"--weights", "w", "--cpus", "1 2"},
                                          {"--weights", "w", "--cpus"},
                                          {"--weights", "w", "--nonsense"},
                                          {"w"}};
  for (const auto& words : bad) {
    Arguments out;
    CHECK(parse(words, &out).kind() == cuvil::ErrorKind::kUsage, "accepted: %s", words.empty() ? "" : words.back());
  }
  return cuvil::test::finish("arguments");
}
