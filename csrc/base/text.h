// Text that grows, for replies and messages; and text of a fixed capacity, for errors that must not need memory.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cuvil {

/// A growable zero-terminated string. When memory runs out it stops growing and remembers it: see `failed`.
class Text {
 public:
  Text() = default;
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  Text(Text&& other) noexcept { swap(other); }
  Text& operator=(Text&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Text();

  void append(std::string_view piece);
  void append(char c) { append(std::string_view(&c, 1)); }
  void append_format(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void clear() { size_ = 0; }

  /// True when some piece was lost because memory could not be had.
  bool failed() const { return failed_; }
  std::string_view view() const { return {data_ == nullptr ? "" : data_, size_}; }
  const char* c_str() const { return data_ == nullptr ? "" : data_; }
  size_t size() const { return size_; }

 private:
  bool reserve(size_t extra);
  void swap(Text& other);

  char* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
  bool failed_ = false;
};

/// The part of `text` of at most `count` characters from `begin` on. (string_view::substr needs the C++ library.)
inline std::string_view slice(std::string_view text, size_t begin, size_t count = SIZE_MAX) {
  if (begin > text.size()) begin = text.size();
  const size_t left = text.size() - begin;
  return {text.data() + begin, count < left ? count : left};
}

/// Formats into `out` (zero-terminated); a text that does not fit ends in "..." at a character boundary.
void format_bounded(char* out, size_t capacity, const char* format, va_list arguments);

}  // namespace cuvil
