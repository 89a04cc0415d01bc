// Element types of the ABI: names and sizes.
#pragma once

#include <cstdint>

#include "abi/cuvil_abi.h"

namespace cuvil {

/// "f32", ...; null for a number that is no dtype.
constexpr const char* dtype_name(uint32_t dtype) {
  constexpr const char* kNames[] = {nullptr, "f32", "f16", "bf16", "f64", "i8",  "u8",
                                    "i16",   "u16", "i32", "u32",  "i64", "u64", "bool"};
  return dtype < sizeof(kNames) / sizeof(kNames[0]) ? kNames[dtype] : nullptr;
}

/// Bytes of an element; 0 for a number that is no dtype.
constexpr uint32_t dtype_bytes(uint32_t dtype) {
  constexpr uint32_t kBytes[] = {0, 4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return dtype < sizeof(kBytes) / sizeof(kBytes[0]) ? kBytes[dtype] : 0;
}

}  // namespace cuvil
