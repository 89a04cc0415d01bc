#include "base/sha256.h"

#include <bit>
#include <cstring>

namespace cuvil {
namespace {

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline uint32_t load_big_endian(const uint8_t* p) {
  uint32_t word;
  memcpy(&word, p, 4);
  return __builtin_bswap32(word);
}

// One round with the registers renamed instead of moved; w[] is a ring of the last 16 schedule words.
#define CUVIL_SHA_ROUND(a, b, c, d, e, f, g, h, i, word)                                                        \
  do {                                                                                                          \
    uint32_t t =                                                                                                \
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + (g ^ (e & (f ^ g))) + kRound[i] + (word); \
    d += t;                                                                                                     \
    h = t + (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) | (c & (a | b)));                \
  } while (false)

inline uint32_t next_word(uint32_t* w, int i) {
  const uint32_t w15 = w[(i + 1) & 15], w2 = w[(i + 14) & 15];
  const uint32_t s0 = std::rotr(w15, 7) ^ std::rotr(w15, 18) ^ (w15 >> 3);
  const uint32_t s1 = std::rotr(w2, 17) ^ std::rotr(w2, 19) ^ (w2 >> 10);
  return w[i & 15] += s0 + w[(i + 9) & 15] + s1;
}

template <class Word>
inline void eight_rounds(uint32_t* s, int i, Word word) {
  CUVIL_SHA_ROUND(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], i + 0, word(i + 0));
  CUVIL_SHA_ROUND(s[7], s[0], s[1], s[2], s[3], s[4], s[5], s[6], i + 1, word(i + 1));
  CUVIL_SHA_ROUND(s[6], s[7], s[0], s[1], s[2], s[3], s[4], s[5], i + 2, word(i + 2));
  CUVIL_SHA_ROUND(s[5], s[6], s[7], s[0], s[1], s[2], s[3], s[4], i + 3, word(i + 3));
  CUVIL_SHA_ROUND(s[4], s[5], s[6], s[7], s[0], s[1], s[2], s[3], i + 4, word(i + 4));
  CUVIL_SHA_ROUND(s[3], s[4], s[5], s[6], s[7], s[0], s[1], s[2], i + 5, word(i + 5));
  CUVIL_SHA_ROUND(s[2], s[3], s[4], s[5], s[6], s[7], s[0], s[1], i + 6, word(i + 6));
  CUVIL_SHA_ROUND(s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[0], i + 7, word(i + 7));
}

void compress(uint32_t state[8], const uint8_t* block, size_t blocks) {
  for (; blocks != 0; --blocks, block += 64) {
    uint32_t w[16], s[8];
    memcpy(s, state, sizeof(s));
    for (int i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
    for (int i = 0; i < 16; i += 8) eight_rounds(s, i, [&](int k) { return w[k & 15]; });
    for (int i = 16; i < 64; i += 8) eight_rounds(s, i, [&](int k) { return next_word(w, k); });
    for (int i = 0; i < 8; ++i) state[i] += s[i];
  }
}

}  // namespace

void Sha256::update(const void* data, size_t bytes) {
  if (bytes == 0) return;
  const uint8_t* p = static_cast<const uint8_t*>(data);
  const size_t held = length_bytes_ % 64;
  length_bytes_ += bytes;
  if (held != 0) {
    const size_t taken = bytes < 64 - held ? bytes : 64 - held;
    memcpy(pending_ + held, p, taken);
    p += taken;
    bytes -= taken;
    if (held + taken < 64) return;
    compress(state_, pending_, 1);
  }
  compress(state_, p, bytes / 64);
  memcpy(pending_, p + bytes / 64 * 64, bytes % 64);
}

void Sha256::finish(uint8_t digest[kSha256Bytes]) {
  const uint64_t length_bits = length_bytes_ * 8;
  static constexpr uint8_t kPadding[64] = {0x80};
  update(kPadding, 1 + (119 - length_bytes_ % 64) % 64);
  uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<uint8_t>(length_bits >> (56 - 8 * i));
  update(length, 8);
  for (int i = 0; i < 32; ++i) digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const uint8_t digest[kSha256Bytes], char text[2 * kSha256Bytes + 1]) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (size_t i = 0; i < kSha256Bytes; ++i) {
    text[2 * i] = kDigits[digest[i] >> 4];
    text[2 * i + 1] = kDigits[digest[i] & 15];
  }
  text[2 * kSha256Bytes] = 0;
}

}  // namespace cuvil
