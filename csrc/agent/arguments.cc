#include "agent/arguments.h"

#include <cstdlib>
#include <string_view>

namespace cuvil {
namespace {

constexpr int kMaxNumber = 65535;

/// Reads a number without sign at `*text` and moves behind it; -1 when there is none.
int take_number(const char** text) {
  int value = -1;
  for (; **text >= '0' && **text <= '9'; ++*text) {
    value = (value < 0 ? 0 : value) * 10 + (**text - '0');
    if (value > kMaxNumber) return -1;
  }
  return value;
}

Status bad_value(const char* option, const char* expected, const char* found) {
  return Status(ErrorKind::kUsage, "wrong value of an option")
      .thing("%s", option)
      .expected("%s", expected)
      .found("%s", found);
}

Status read_threads(const char* text, uint32_t* threads) {
  const char* end = text;
  const int value = take_number(&end);
  if (value < 1 || *end != 0) return bad_value("--threads", "a number of at least 1", text);
  *threads = static_cast<uint32_t>(value);
  return {};
}

/// Options that have a value; the value is `text`.
Status read_option(std::string_view option, const char* text, Arguments* out) {
  if (text == nullptr) {
    return Status(ErrorKind::kUsage, "an option lacks its value")
        .thing("%.*s", static_cast<int>(option.size()), option.data())
        .hint("see --help");
  }
  if (option == "--threads") return read_threads(text, &out->threads);
  if (option == "--cpus") return parse_cpu_list(text, &out->cpus);
  out->weights = text;
  return {};
}

Status unknown_option(const char* option) {
  return Status(ErrorKind::kUsage, "unknown option").thing("%s", option).hint("see --help");
}

}  // namespace

Status parse_cpu_list(const char* text, Array<int>* cpus) {
  const char* at = text;
  for (;;) {
    const int first = take_number(&at);
    int last = first;
    if (first >= 0 && *at == '-') {
      ++at;
      last = take_number(&at);
    }
    if (first < 0 || last < first) return bad_value("--cpus", "CPU numbers such as 0,4-7", text);
    for (int cpu = first; cpu <= last; ++cpu) {
      if (!cpus->push(cpu)) return Status::out_of_memory("the list of CPUs", cpus->size() * sizeof(int));
    }
    if (*at == 0) return {};
    if (*at++ != ',') return bad_value("--cpus", "CPU numbers such as 0,4-7", text);
  }
}

Status parse_arguments(int argc, char* const* argv, Arguments* out) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--help" || option == "-h") {
      out->action = Arguments::Action::kHelp;
      return {};
    } else if (option == "--version") {
      out->action = Arguments::Action::kVersion;
      return {};
    } else if (option == "--sha256") {
      out->action = Arguments::Action::kHash;
      out->files = {argv + i + 1, static_cast<size_t>(argc - i - 1)};
      return {};
    } else if (option == "--check-weights") {
      out->check_weights = true;
    } else if (option == "--weights" || option == "--threads" || option == "--cpus") {
      CUVIL_RETURN_IF_ERROR(read_option(option, i + 1 < argc ? argv[i + 1] : nullptr, out));
      ++i;
    } else {
      return unknown_option(argv[i]);
    }
  }
  if (out->weights != nullptr) return {};
  return Status(ErrorKind::kUsage, "no weights")
      .thing("--weights")
      .expected("the path of weights.bin")
      .hint("see --help");
}

}  // namespace cuvil
