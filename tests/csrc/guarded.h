// Buffers that fault on the first element too far: memory whose end (or start) touches a page without access, so that a
// vector load or store beyond a tail is caught on every instruction set, masked or not, also under emulation.
#ifndef CUVIL_TESTS_CSRC_GUARDED_H
#define CUVIL_TESTS_CSRC_GUARDED_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace cuvil::test {

enum class Guard { kAfter, kBefore };

template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count, Guard guard = Guard::kAfter) : count_(count) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t inner = (count * sizeof(T) + page - 1) / page * page;
    bytes_ = inner + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || (inner != 0 && mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0)) {
      perror("guarded buffer");
      abort();
    }
    char* first = guard == Guard::kAfter ? base_ + page + inner - count * sizeof(T) : base_ + page;
    data_ = reinterpret_cast<T*>(first);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, bytes_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  size_t count_;
  size_t bytes_ = 0;
  char* base_ = nullptr;
  T* data_ = nullptr;
};

// A small deterministic source of numbers.
class Random {
 public:
  explicit Random(unsigned long long seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  unsigned next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<unsigned>(state_ >> 33);
  }
  int between(int low, int high) { return low + static_cast<int>(next() % static_cast<unsigned>(high - low + 1)); }
  float unit() { return static_cast<float>(next()) * (2.0f / 2147483648.0f) - 1.0f; }

 private:
  unsigned long long state_;
};

}  // namespace cuvil::test

#endif  // CUVIL_TESTS_CSRC_GUARDED_H
