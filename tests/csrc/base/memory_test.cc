// Sizes that do not fit must fail, not wrap; blocks are aligned, zero, and gone after release.
#include "base/memory.h"

#include <unistd.h>

#include <cstdio>

#include "check.h"

namespace {

uint64_t mapped_pages() {
  long pages = 0;
  if (FILE* file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%ld", &pages) != 1) pages = 0;
    fclose(file);
  }
  return static_cast<uint64_t>(pages);
}

void test_arrays() {
  cuvil::Array<uint32_t> array;
  CHECK(!array.resize(SIZE_MAX / 2), "a size in bytes that does not fit");
  CHECK(array.resize(3) && array[0] == 0 && array[2] == 0, "zeroed");
  array[1] = 5;
  for (uint32_t i = 0; i < 1000; ++i) CHECK(array.push(i), "push");
  CHECK(array.size() == 1003 && array[1] == 5 && array[1002] == 999, "kept");
  CHECK(array.resize(2) && array.resize(4) && array[1] == 5 && array[2] == 0, "grown elements are zero again");
  cuvil::Array<uint32_t> other = std::move(array);
  CHECK(other.size() == 4 && array.empty(), "moved");
}

void test_pages() {
  cuvil::Pages pages;
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{100000}, uint64_t{9} << 20}) {
    CHECK(pages.allocate(bytes), "%llu bytes", static_cast<unsigned long long>(bytes));
    CHECK(pages.data() != nullptr && reinterpret_cast<uintptr_t>(pages.data()) % 64 == 0, "alignment");
    CHECK(pages.size_bytes() >= bytes, "size");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < bytes; i += 512) sum += pages.data()[i];
    CHECK(sum == 0, "zeroed");
    if (bytes != 0) pages.data()[bytes - 1] = 1;
  }
  for (uint64_t bytes : {UINT64_MAX, UINT64_MAX - 4096, uint64_t{1} << 62}) {
    CHECK(!pages.allocate(bytes), "%llu bytes", static_cast<unsigned long long>(bytes));
    CHECK(pages.data() == nullptr && pages.size_bytes() == 0, "nothing held after a failure");
  }
}

void test_release_gives_memory_back() {
  const uint64_t before = mapped_pages();
  for (int i = 0; i < 100; ++i) {
    cuvil::Pages pages;
    CHECK(pages.allocate(uint64_t{16} << 20), "16 MiB");
  }
  CHECK(mapped_pages() < before + 4096, "mappings stay: %llu pages",
        static_cast<unsigned long long>(mapped_pages() - before));
}

void test_checked_arithmetic() {
  uint64_t out = 0;
  CHECK(!cuvil::checked_add(UINT64_MAX, uint64_t{1}, &out), "add");
  CHECK(!cuvil::checked_multiply(UINT64_MAX / 2 + 1, uint64_t{2}, &out), "multiply");
  CHECK(!cuvil::checked_round_up(UINT64_MAX - 10, 64, &out), "round up");
  CHECK(cuvil::checked_round_up(0, 64, &out) && out == 0, "0");
  CHECK(cuvil::checked_round_up(1, 64, &out) && out == 64, "1");
  CHECK(cuvil::checked_round_up(64, 64, &out) && out == 64, "64");
}

}  // namespace

int main() {
  test_arrays();
  test_pages();
  test_release_gives_memory_back();
  test_checked_arithmetic();
  return cuvil::test::finish("memory");
}
