// SHA-256 (FIPS 180-4).
#pragma once

#include <cstddef>
#include <cstdint>

namespace cuvil {

constexpr size_t kSha256Bytes = 32;

/// A hash that is fed piece by piece.
class Sha256 {
 public:
  void update(const void* data, size_t bytes);
  /// Ends the hash; nothing may be fed after it.
  void finish(uint8_t digest[kSha256Bytes]);

 private:
  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint64_t length_bytes_ = 0;
  uint8_t pending_[64] = {};
};

/// The digest as 64 hexadecimal digits and a terminating zero.
void sha256_hex(const uint8_t digest[kSha256Bytes], char text[2 * kSha256Bytes + 1]);

}  // namespace cuvil
