// What the CPU that runs this can do, without /proc and /sys: names are those that /proc/cpuinfo prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace cuvil {

/// The architecture this is built for, as `uname -m` prints it.
const char* cpu_architecture();

/// The features of this CPU that the operating system has enabled (on x86: those that programs need to ask for).
class CpuFeatures {
 public:
  static CpuFeatures detect();

  bool has(std::string_view name) const;
  /// The names that are present, in a fixed order: i counts from 0; null at the end.
  const char* name(size_t i) const;

 private:
  uint64_t present_[3] = {};  // bits in the order of the table in cpu_features.cc
};

/// Ok when this machine has the architecture and every (space-separated) feature; else an error that names what is
/// missing, of kind wrong_architecture or missing_feature.
Status check_cpu(const CpuFeatures& features, std::string_view architecture, std::string_view required_features,
                 const char* thing);

}  // namespace cuvil
