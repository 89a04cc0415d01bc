// SHA-256 of files, for a board that has no sha256sum.
#pragma once

#include <span>

#include "base/sha256.h"
#include "base/status.h"

namespace cuvil {

/// Hashes a file piece by piece; the text gets 64 hexadecimal digits.
Status hash_file(const char* path, char text[2 * kSha256Bytes + 1]);

/// Prints {"file":..,"sha256":..} or {"file":..,"error":{..}} for each file; returns the exit code.
int print_hashes(std::span<char* const> files);

}  // namespace cuvil
