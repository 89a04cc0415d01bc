// The smallest test frame: CHECK counts failures and prints the first few, finish() is main's return value.
#ifndef CUVIL_TESTS_CSRC_CHECK_H
#define CUVIL_TESTS_CSRC_CHECK_H

#include <stdio.h>

namespace cuvil::test {

inline int failure_count = 0;

inline int finish(const char* name) {
  if (failure_count == 0) printf("%s: ok\n", name);
  if (failure_count != 0) printf("%s: %d failures\n", name, failure_count);
  return failure_count == 0 ? 0 : 1;
}

}  // namespace cuvil::test

// CHECK(condition, "printf format", arguments...): the text says what was tried.
#define CHECK(condition, ...)                                        \
  do {                                                               \
    if (!(condition) && ++cuvil::test::failure_count <= 20) {        \
      printf("%s:%d: failed: %s: ", __FILE__, __LINE__, #condition); \
      printf(__VA_ARGS__);                                           \
      printf("\n");                                                  \
    }                                                                \
  } while (0)

#endif  // CUVIL_TESTS_CSRC_CHECK_H
