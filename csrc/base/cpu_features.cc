#include "base/cpu_features.h"

#include <iterator>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace cuvil {
namespace {

#if defined(__x86_64__)

enum Register { EAX, EBX, ECX, EDX };
enum State { NONE, AVX, AVX512, AMX };
struct Feature {
  uint32_t leaf, subleaf;
  Register from;
  uint32_t bit;
  State state;
  const char* name;
};
#define FEATURE(leaf, subleaf, from, bit, state, name) {leaf, subleaf, from, bit, state, name},
constexpr Feature kFeatures[] = {
#include "base/cpu_features_x86.inc"
};

uint64_t enabled_state() {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  constexpr uint32_t kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & kOsxsave) == 0) return 0;
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool state_enabled(State state, uint64_t enabled) {
  constexpr uint64_t kNeeded[] = {0, 0x6, 0xE6, 0x60000};  // XCR0: SSE+AVX; and opmask, ZMM; AMX tiles
  return (enabled & kNeeded[state]) == kNeeded[state];
}

/// Asks the CPU; remembers the last answer, because CPUID is slow in a virtual machine and the table is sorted by leaf.
class Probe {
 public:
  bool has(const Feature& feature) {
    if (!asked_ || feature.leaf != leaf_ || feature.subleaf != subleaf_) ask(feature.leaf, feature.subleaf);
    return (registers_[feature.from] >> feature.bit & 1) != 0 && state_enabled(feature.state, enabled_);
  }

 private:
  void ask(uint32_t leaf, uint32_t subleaf) {
    asked_ = true;
    leaf_ = leaf;
    subleaf_ = subleaf;
    if (!__get_cpuid_count(leaf, subleaf, &registers_[EAX], &registers_[EBX], &registers_[ECX], &registers_[EDX])) {
      for (uint32_t& value : registers_) value = 0;
    }
  }

  uint64_t enabled_ = enabled_state();
  uint32_t registers_[4] = {};
  uint32_t leaf_ = 0, subleaf_ = 0;
  bool asked_ = false;
};

#elif defined(__aarch64__)

struct Feature {
  uint32_t word, bit;
  const char* name;
};
#define FEATURE(word, bit, name) {word, bit, name},
constexpr Feature kFeatures[] = {
#include "base/cpu_features_arm.inc"
};

struct Probe {
  bool has(const Feature& feature) const { return (words[feature.word] >> feature.bit & 1) != 0; }
  uint64_t words[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
};

#else
#error "cuvil-edge runs on x86_64 and aarch64"
#endif
#undef FEATURE

constexpr size_t kFeatureCount = std::size(kFeatures);

template <class Visit>
void for_each_word(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = text.find(' ') == std::string_view::npos ? text.size() : text.find(' ');
    if (end != 0) visit(slice(text, 0, end));
    text.remove_prefix(end == text.size() ? end : end + 1);
  }
}

}  // namespace

const char* cpu_architecture() {
#if defined(__x86_64__)
  return "x86_64";
#else
  return "aarch64";
#endif
}

CpuFeatures CpuFeatures::detect() {
  CpuFeatures found;
  Probe probe;
  static_assert(kFeatureCount <= 64 * std::size(CpuFeatures().present_));
  for (size_t i = 0; i < kFeatureCount; ++i) {
    if (probe.has(kFeatures[i])) found.present_[i / 64] |= uint64_t{1} << i % 64;
  }
  return found;
}

const char* CpuFeatures::name(size_t i) const {
  for (size_t k = 0; k < kFeatureCount; ++k) {
    if ((present_[k / 64] >> k % 64 & 1) != 0 && i-- == 0) return kFeatures[k].name;
  }
  return nullptr;
}

bool CpuFeatures::has(std::string_view name) const {
  for (size_t k = 0; k < kFeatureCount; ++k) {
    if (name == kFeatures[k].name) return (present_[k / 64] >> k % 64 & 1) != 0;
  }
  return false;
}

Status check_cpu(const CpuFeatures& features, std::string_view architecture, std::string_view required_features,
                 const char* thing) {
  const char* hint = "compile the model again for the board or ISA that it runs on (--board, --target)";
  if (architecture != cpu_architecture()) {
    return Status(ErrorKind::kWrongArchitecture, "the model is compiled for another architecture")
        .thing("%s", thing)
        .expected("%s", cpu_architecture())
        .found("%.*s", static_cast<int>(architecture.size()), architecture.data())
        .hint("%s", hint);
  }
  Text missing;
  for_each_word(required_features, [&](std::string_view name) {
    if (features.has(name)) return;
    if (missing.size() != 0) missing.append(' ');
    missing.append(name);
  });
  if (missing.size() == 0 && !missing.failed()) return {};
  return Status(ErrorKind::kMissingFeature, "this CPU lacks instructions that the model uses")
      .thing("%s", thing)
      .expected("a CPU with %.*s", static_cast<int>(required_features.size()), required_features.data())
      .found("missing: %s", missing.c_str())
      .hint("%s", hint);
}

}  // namespace cuvil
