// The hash decides what is loaded: known answers of FIPS 180-4, and every way to cut a text into pieces.
#include "base/sha256.h"

#include <string.h>

#include <string>
#include <vector>

#include "check.h"

namespace {

std::string hash(const std::string& text, size_t piece) {
  cuvil::Sha256 sha;
  for (size_t i = 0; i < text.size(); i += piece) sha.update(text.data() + i, std::min(piece, text.size() - i));
  uint8_t digest[cuvil::kSha256Bytes];
  sha.finish(digest);
  char hex[2 * cuvil::kSha256Bytes + 1];
  cuvil::sha256_hex(digest, hex);
  return hex;
}

struct KnownAnswer {
  std::string text;
  const char* digest;
};

}  // namespace

int main() {
  const KnownAnswer answers[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
      {std::string(1000000, 'a'), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
  };
  for (const KnownAnswer& answer : answers) {
    const std::string got = hash(answer.text, std::max<size_t>(answer.text.size(), 1));
    CHECK(got == answer.digest, "%zu bytes: %s", answer.text.size(), got.c_str());
  }
  // Padding is where block hashes go wrong: all lengths around two blocks, in pieces of all sizes.
  for (size_t length = 0; length <= 130; ++length) {
    std::string text;
    for (size_t i = 0; i < length; ++i) text += static_cast<char>(i * 7 + length);
    const std::string whole = hash(text, 1000);
    for (size_t piece : {1, 3, 55, 56, 63, 64, 65}) {
      CHECK(hash(text, piece) == whole, "length %zu in pieces of %zu", length, piece);
    }
  }
  return cuvil::test::finish("sha256");
}
