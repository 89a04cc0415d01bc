// Element types as kernels see them: how an element lies in memory, and the plain C++ value it is computed as.
//
// f16 and bf16 are computed as float (each operation in f32, rounded to nearest even when stored); bool is one byte, 0
// or 1, and any other byte reads as true. Casts follow cast<To>() below: defined for every input.
#ifndef CUVIL_KERNELS_ELEMENT_H
#define CUVIL_KERNELS_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include <type_traits>

#ifndef CUVIL_INLINE
#define CUVIL_INLINE inline __attribute__((always_inline))
#endif

// In front of a loop whose iterations do not depend on each other, which the compiler cannot see for itself.
#if defined(__clang__)
#define CUVIL_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define CUVIL_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif

namespace cuvil::kernels {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};

template <class T>
struct ValueOf {
  using Type = T;
};
template <>
struct ValueOf<F16> {
  using Type = float;
};
template <>
struct ValueOf<BF16> {
  using Type = float;
};
template <>
struct ValueOf<Bool> {
  using Type = bool;
};

// The C++ type that an element of type T is computed as.
template <class T>
using Value = typename ValueOf<T>::Type;

namespace detail {

// Clang before 15 has F16C instructions, but no type for them on x86.
#if defined(__F16C__) && (!defined(__clang__) || __clang_major__ >= 15)
#define CUVIL_X86_FLOAT16
#endif

CUVIL_INLINE float f16_to_f32(uint16_t bits) {
#if defined(__aarch64__)
  return static_cast<float>(__builtin_bit_cast(__fp16, bits));
#elif defined(CUVIL_X86_FLOAT16)
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
#else
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude < 0x0400u) {  // zero and subnormals: an integer times 2^-24
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, value) | sign);
  }
  const uint32_t rebias = magnitude >= 0x7c00u ? (255u - 31u) << 23 : (127u - 15u) << 23;
  return __builtin_bit_cast(float, ((magnitude << 13) + rebias) | sign);
#endif
}

CUVIL_INLINE uint16_t f32_to_f16(float value) {
#if defined(__aarch64__)
  return __builtin_bit_cast(uint16_t, static_cast<__fp16>(value));
#elif defined(CUVIL_X86_FLOAT16)
  return __builtin_bit_cast(uint16_t, static_cast<_Float16>(value));
#else
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);   // NaN
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {  // subnormal result: adding 0.5 lets the hardware round at the last place of f16
    const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - (112u << 23) + 0xfffu + odd) >> 13));
#endif
}

CUVIL_INLINE uint16_t f32_to_bf16(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>(value != value ? (bits >> 16) | 0x40u : rounded);
}

// The float next to `value` whose last bit says whether the conversion was exact, so that rounding once more to a
// shorter type gives what rounding `value` itself would.
CUVIL_INLINE float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  if (__builtin_fabs(static_cast<double>(nearest)) > __builtin_fabs(value)) --bits;
  return __builtin_bit_cast(float, bits | 1u);
}

// Truncation toward zero, saturating at the ends of I (int32_t or int64_t); NaN gives the lower end.
template <class I, class F>
CUVIL_INLINE I truncate_saturating(F value) {
  constexpr F kLimit = static_cast<F>(static_cast<I>(I{1} << (sizeof(I) * 8 - 2))) * 2;
  constexpr I kMin = std::is_same_v<I, int32_t> ? static_cast<I>(INT32_MIN) : static_cast<I>(INT64_MIN);
  constexpr I kMax = static_cast<I>(~kMin);
  const F inside = value >= -kLimit && value < kLimit ? value : -kLimit;
  const I converted = static_cast<I>(inside);
  return value >= kLimit ? kMax : converted;
}

template <class To, class From>
CUVIL_INLINE To float_to_integer(From value) {
  if constexpr (sizeof(To) < 4 || std::is_same_v<To, int32_t>) {
    return static_cast<To>(truncate_saturating<int32_t>(value));
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    constexpr From kHalf = static_cast<From>(0x1p63);
    if (value >= kHalf * 2) return UINT64_MAX;
    if (value >= kHalf) return static_cast<uint64_t>(truncate_saturating<int64_t>(value - kHalf)) + (1ull << 63);
    return static_cast<uint64_t>(truncate_saturating<int64_t>(value));
  } else {
    return static_cast<To>(truncate_saturating<int64_t>(value));
  }
}

}  // namespace detail

// The value of an element.
template <class T>
CUVIL_INLINE Value<T> load(const T& element) {
  if constexpr (std::is_same_v<T, F16>) {
    return detail::f16_to_f32(element.bits);
  } else if constexpr (std::is_same_v<T, BF16>) {
    return __builtin_bit_cast(float, static_cast<uint32_t>(element.bits) << 16);
  } else if constexpr (std::is_same_v<T, Bool>) {
    return element.byte != 0;
  } else {
    return element;
  }
}

// The element with that value, rounded to nearest even where T is shorter.
template <class T>
CUVIL_INLINE T store(Value<T> value) {
  if constexpr (std::is_same_v<T, F16>) {
    return {detail::f32_to_f16(value)};
  } else if constexpr (std::is_same_v<T, BF16>) {
    return {detail::f32_to_bf16(value)};
  } else if constexpr (std::is_same_v<T, Bool>) {
    return {static_cast<uint8_t>(value ? 1 : 0)};
  } else {
    return value;
  }
}

// Conversion between values: anything to bool compares with zero; floats to integers truncate, saturating at the ends
// of i32 (for types up to 32 bits) or 64 bits before higher bits are dropped; integers wrap; floats round to nearest
// even.
template <class To, class From>
CUVIL_INLINE Value<To> cast(From value) {
  if constexpr (std::is_same_v<To, Bool>) {
    return value != From{0};
  } else if constexpr (std::is_same_v<To, F16>) {
    if constexpr (std::is_same_v<From, double>)
      return detail::f16_to_f32(detail::f32_to_f16(detail::round_to_odd(value)));
    return detail::f16_to_f32(detail::f32_to_f16(static_cast<float>(value)));
  } else if constexpr (std::is_same_v<To, BF16>) {
    float rounded;
    if constexpr (std::is_same_v<From, double>) {
      rounded = detail::round_to_odd(value);
    } else {
      rounded = static_cast<float>(value);
    }
    return load(store<BF16>(rounded));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return detail::float_to_integer<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace cuvil::kernels

#endif  // CUVIL_KERNELS_ELEMENT_H
