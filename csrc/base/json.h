// JSON (RFC 8259) for the agent's protocol: a strict reader into a tree, and a writer.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory.h"
#include "base/status.h"
#include "base/text.h"

namespace cuvil {

enum class JsonType : uint8_t { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };

/// A value in a JsonDocument; valid as long as the document is, until its next `parse`. The empty value stands for
/// "absent".
class JsonValue {
 public:
  JsonValue() = default;

  bool present() const { return document_ != nullptr; }
  JsonType type() const;
  bool is(JsonType type) const { return present() && this->type() == type; }
  /// The member of an object; absent when there is none or this is no object. The last of equal keys wins.
  JsonValue find(std::string_view key) const;
  /// The first element of an array or object, then its neighbours; absent at the end.
  JsonValue first() const;
  JsonValue next() const;
  uint32_t size() const;
  bool boolean() const;
  int64_t integer() const;
  /// An integer or number as a double.
  double number() const;
  /// The text of a string; zero-terminated, without inner zeros.
  const char* text() const;

 private:
  friend class JsonDocument;
  JsonValue(const class JsonDocument* document, uint32_t node) : document_(document), node_(node) {}

  const class JsonDocument* document_ = nullptr;
  uint32_t node_ = 0;
};

/// A parsed text.
class JsonDocument {
 public:
  /// Reads exactly one value. Errors (kind `usage`) name the byte where the text stops being JSON.
  Status parse(std::string_view text);
  JsonValue root() const { return {this, 0}; }

 private:
  friend class JsonValue;
  friend class JsonParser;
  struct Node {
    JsonType type;
    bool boolean;
    uint32_t key;    // offset in strings_, of a member of an object
    uint32_t text;   // offset in strings_
    uint32_t first;  // 0: none (the root is nobody's child)
    uint32_t next;
    uint32_t size;
    int64_t integer;
    double number;
  };

  Array<Node> nodes_;
  Array<char> strings_;
};

/// Appends JSON to a text; commas and quotes come by themselves.
class JsonWriter {
 public:
  explicit JsonWriter(Text* out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);
  void text(std::string_view value);
  void integer(int64_t value);
  void unsigned_integer(uint64_t value);
  /// A finite number; NaN and infinities, which JSON does not have, become null.
  void number(double value);
  void boolean(bool value);
  void null();

  void member(std::string_view name, std::string_view value) { key(name), text(value); }
  void member_integer(std::string_view name, int64_t value) { key(name), integer(value); }
  void member_unsigned(std::string_view name, uint64_t value) { key(name), unsigned_integer(value); }
  void member_boolean(std::string_view name, bool value) { key(name), boolean(value); }

 private:
  void separate();
  void open(char c);
  void close(char c);
  void quoted(std::string_view value);

  Text* out_;
  bool comma_ = false;
};

}  // namespace cuvil
