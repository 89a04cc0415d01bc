// Ownership without the C++ library: arrays of plain data, single objects, and page-granular blocks whose release gives
// everything back to the operating system. Whatever allocates says whether it could.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/checked.h"

namespace cuvil {

/// A growable array of plain data; new elements are zero.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() { free(data_); }

  /// Changes the number of elements, keeping those that remain; false (and no change) without memory.
  [[nodiscard]] bool resize(size_t count) {
    if (!reserve(count)) return false;
    if (count > size_) memset(static_cast<void*>(data_ + size_), 0, (count - size_) * sizeof(T));
    size_ = count;
    return true;
  }
  [[nodiscard]] bool reserve(size_t count) {
    if (count <= capacity_) return true;
    size_t bytes = 0;
    if (!checked_multiply(count, sizeof(T), &bytes)) return false;
    void* data = realloc(static_cast<void*>(data_), bytes);
    if (data == nullptr) return false;
    data_ = static_cast<T*>(data);
    capacity_ = count;
    return true;
  }
  [[nodiscard]] bool push(const T& value) {
    if (size_ == capacity_ && !reserve(capacity_ < 8 ? 16 : capacity_ * 2)) return false;
    data_[size_++] = value;
    return true;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  void swap(Array& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

/// The one owner of an object from `make_owned`; may be empty.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T* object) : object_(object) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() { reset(); }

  void reset() {
    T* object = std::exchange(object_, nullptr);
    if (object == nullptr) return;
    object->~T();
    free(static_cast<void*>(object));
  }
  explicit operator bool() const { return object_ != nullptr; }
  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }

 private:
  T* object_ = nullptr;
};

/// A new T, or an empty owner without memory.
template <class T, class... Arguments>
[[nodiscard]] Owned<T> make_owned(Arguments&&... arguments) {
  void* memory = nullptr;
  constexpr size_t kAlignment = alignof(T) < sizeof(void*) ? sizeof(void*) : alignof(T);
  if (posix_memalign(&memory, kAlignment, sizeof(T)) != 0) return {};
  return Owned<T>(new (memory) T(std::forward<Arguments>(arguments)...));
}

/// Zeroed pages of memory, aligned to 64 bytes at least. Big blocks ask for huge pages.
class Pages {
 public:
  Pages() = default;
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { release(); }

  /// Replaces the block by one of at least `bytes` bytes (contents are lost); false, and nothing held, without memory.
  [[nodiscard]] bool allocate(uint64_t bytes);
  void release();

  uint8_t* data() const { return data_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t size_bytes_ = 0;
  void* mapping_ = nullptr;
  uint64_t mapping_bytes_ = 0;
};

/// Bytes of a page of this machine.
uint64_t page_bytes();

}  // namespace cuvil
