#include "base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace cuvil {
namespace {

constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
// Below this, rounding up to huge pages would waste more than it saves in page faults and TLB misses.
constexpr uint64_t kHugePageThresholdBytes = uint64_t{8} << 20;

}  // namespace

uint64_t page_bytes() {
  long bytes = sysconf(_SC_PAGESIZE);
  return bytes > 0 ? static_cast<uint64_t>(bytes) : 4096;
}

bool Pages::allocate(uint64_t bytes) {
  release();
  const bool huge = bytes >= kHugePageThresholdBytes;
  uint64_t size = 0;
  if (!checked_round_up(bytes == 0 ? 1 : bytes, page_bytes(), &size)) return false;
  uint64_t mapping_bytes = 0;
  if (!checked_add(size, huge ? kHugePageBytes : 0, &mapping_bytes) || mapping_bytes > SIZE_MAX / 2) return false;
  void* mapping = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return false;
  mapping_ = mapping;
  mapping_bytes_ = mapping_bytes;
  size_bytes_ = size;
  data_ = static_cast<uint8_t*>(mapping);
  if (huge) {
    const uint64_t misaligned = reinterpret_cast<uintptr_t>(mapping) % kHugePageBytes;
    if (misaligned != 0) data_ += kHugePageBytes - misaligned;
    madvise(data_, size, MADV_HUGEPAGE);  // advice: a kernel without huge pages ignores it
  }
  return true;
}

void Pages::release() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  mapping_ = nullptr;
  data_ = nullptr;
  mapping_bytes_ = size_bytes_ = 0;
}

}  // namespace cuvil
