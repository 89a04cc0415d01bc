// A feature that is claimed but absent traps; one that is present but not seen refuses good machines. The kernel's own
// list is the oracle.
#include "base/cpu_features.h"

#include <string.h>

#include <cstdio>
#include <string>

#include "check.h"

using cuvil::CpuFeatures;

namespace {

/// The words of the first line of /proc/cpuinfo that lists features, with spaces around; empty without /proc.
std::string kernel_features() {
  std::string line;
  if (FILE* file = fopen("/proc/cpuinfo", "r")) {
    char piece[8192];
    while (fgets(piece, sizeof(piece), file) != nullptr && line.empty()) {
      if (strncmp(piece, "flags", 5) == 0 || strncmp(piece, "Features", 8) == 0) line = strchr(piece, ':') + 1;
    }
    fclose(file);
  }
  if (!line.empty()) line.back() = ' ';
  return line;
}

void test_agrees_with_the_kernel() {
  const std::string kernel = kernel_features();
  if (kernel.empty()) return;
  const CpuFeatures features = CpuFeatures::detect();
  for (size_t i = 0; features.name(i) != nullptr; ++i) {
    CHECK(kernel.find(std::string(" ") + features.name(i) + " ") != std::string::npos, "claims %s", features.name(i));
  }
  for (const char* name : {"avx2", "fma", "f16c", "bmi2", "avx512f", "avx512bw", "avx512_vnni", "avx_vnni", "asimd",
                           "asimddp", "asimdhp", "fphp", "i8mm", "bf16", "sve"}) {
    const bool present = kernel.find(std::string(" ") + name + " ") != std::string::npos;
    CHECK(features.has(name) == present, "%s", name);
  }
}

void test_refusals_name_everything_that_is_missing() {
  const CpuFeatures features = CpuFeatures::detect();
  CHECK(features.name(0) != nullptr, "no features at all");
  CHECK(!features.has("") && !features.has("nonsense"), "unknown names are absent");
  const cuvil::Status ok = cuvil::check_cpu(features, cuvil::cpu_architecture(), "", "m");
  CHECK(ok.ok(), "nothing required");
  const std::string required = std::string("one ") + features.name(0) + "  two";
  const cuvil::Status missing = cuvil::check_cpu(features, cuvil::cpu_architecture(), required, "m");
  CHECK(missing.kind() == cuvil::ErrorKind::kMissingFeature, "kind");
  CHECK(strcmp(missing.error().found, "missing: one two") == 0, "%s", missing.error().found);
  const cuvil::Status other = cuvil::check_cpu(features, "riscv64", "", "m");
  CHECK(other.kind() == cuvil::ErrorKind::kWrongArchitecture, "kind");
}

}  // namespace

int main() {
  test_agrees_with_the_kernel();
  test_refusals_name_everything_that_is_missing();
  return cuvil::test::finish("cpu_features");
}
