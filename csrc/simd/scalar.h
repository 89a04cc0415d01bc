// The portable instruction set: one lane. For CPUs without a header of their own, and the simplest build to debug.
#ifndef CUVIL_SIMD_SCALAR_H
#define CUVIL_SIMD_SCALAR_H

namespace cuvil::simd {
inline constexpr bool kHasLaneFma = false;
inline constexpr int kVectorRegisters = 16;
using namespace one_lane;
}  // namespace cuvil::simd

#endif  // CUVIL_SIMD_SCALAR_H
