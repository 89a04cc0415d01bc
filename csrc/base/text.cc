#include "base/text.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/checked.h"

namespace cuvil {

Text::~Text() { free(data_); }

void Text::swap(Text& other) {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(failed_, other.failed_);
}

bool Text::reserve(size_t extra) {
  size_t wanted = 0;
  if (!checked_add(size_, extra, &wanted) || !checked_add(wanted, size_t{1}, &wanted)) return false;
  if (wanted <= capacity_) return true;
  size_t grown = capacity_ < 128 ? 256 : capacity_ * 2;
  if (grown < wanted) grown = wanted;
  char* data = static_cast<char*>(realloc(data_, grown));
  if (data == nullptr) return false;
  data_ = data;
  capacity_ = grown;
  return true;
}

void Text::append(std::string_view piece) {
  if (!reserve(piece.size())) {
    failed_ = true;
    return;
  }
  memcpy(data_ + size_, piece.data(), piece.size());
  size_ += piece.size();
  data_[size_] = 0;
}

void Text::append_format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(nullptr, 0, format, arguments);
  if (length < 0 || !reserve(static_cast<size_t>(length))) {
    failed_ = true;
  } else {
    vsnprintf(data_ + size_, static_cast<size_t>(length) + 1, format, again);
    size_ += static_cast<size_t>(length);
  }
  va_end(again);
  va_end(arguments);
}

void format_bounded(char* out, size_t capacity, const char* format, va_list arguments) {
  int length = vsnprintf(out, capacity, format, arguments);
  if (length < 0) out[0] = 0;
  if (length < 0 || static_cast<size_t>(length) < capacity) return;
  size_t end = capacity - 4;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0) == 0x80) --end;
  memcpy(out + end, "...", 4);
}

}  // namespace cuvil
