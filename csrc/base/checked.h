// Arithmetic on sizes that says when the result does not fit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuvil {

/// Sets `*out` to a + b; false when the sum does not fit.
template <class T>
[[nodiscard]] constexpr bool checked_add(T a, T b, T* out) {
  return !__builtin_add_overflow(a, b, out);
}

/// Sets `*out` to a * b; false when the product does not fit.
template <class T>
[[nodiscard]] constexpr bool checked_multiply(T a, T b, T* out) {
  return !__builtin_mul_overflow(a, b, out);
}

/// Sets `*out` to `value` rounded up to a multiple of `alignment` (a power of two); false when that does not fit.
[[nodiscard]] constexpr bool checked_round_up(uint64_t value, uint64_t alignment, uint64_t* out) {
  if (!checked_add(value, alignment - 1, out)) return false;
  *out &= ~(alignment - 1);
  return true;
}

}  // namespace cuvil
