// The command line of the agent.
#pragma once

#include <cstdint>
#include <span>

#include "base/memory.h"
#include "base/status.h"

namespace cuvil {

struct Arguments {
  enum class Action { kServe, kHelp, kVersion, kHash };

  Action action = Action::kServe;
  const char* weights = nullptr;
  bool check_weights = false;
  uint32_t threads = 0;
  Array<int> cpus;
  std::span<char* const> files;
};

/// Reads the command line; errors are of kind `usage`.
Status parse_arguments(int argc, char* const* argv, Arguments* out);

/// Appends the numbers of a list such as "0,4-7"; an error of kind `usage` when it is none.
Status parse_cpu_list(const char* text, Array<int>* cpus);

}  // namespace cuvil
