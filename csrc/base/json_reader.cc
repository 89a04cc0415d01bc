#include <cstdlib>

#include "base/json.h"

namespace cuvil {

JsonType JsonValue::type() const { return present() ? document_->nodes_[node_].type : JsonType::kNull; }

JsonValue JsonValue::first() const {
  const uint32_t node = present() ? document_->nodes_[node_].first : 0;
  return node == 0 ? JsonValue() : JsonValue(document_, node);
}

JsonValue JsonValue::next() const {
  const uint32_t node = present() ? document_->nodes_[node_].next : 0;
  return node == 0 ? JsonValue() : JsonValue(document_, node);
}

JsonValue JsonValue::find(std::string_view key) const {
  JsonValue found;
  if (!is(JsonType::kObject)) return found;
  for (JsonValue member = first(); member.present(); member = member.next()) {
    if (key == document_->strings_.data() + document_->nodes_[member.node_].key) found = member;
  }
  return found;
}

uint32_t JsonValue::size() const { return present() ? document_->nodes_[node_].size : 0; }
bool JsonValue::boolean() const { return present() && document_->nodes_[node_].boolean; }
int64_t JsonValue::integer() const { return present() ? document_->nodes_[node_].integer : 0; }
double JsonValue::number() const { return present() ? document_->nodes_[node_].number : 0; }
const char* JsonValue::text() const {
  return is(JsonType::kString) ? document_->strings_.data() + document_->nodes_[node_].text : "";
}

/// Recursive descent with a bounded depth. Sets `problem_` at the first mistake.
class JsonParser {
 public:
  JsonParser(JsonDocument* document, std::string_view text) : document_(*document), text_(text) {}

  Status parse() {
    document_.nodes_.clear();
    document_.strings_.clear();
    uint32_t root = 0;
    if (text_.size() > UINT32_MAX / 4) problem_ = "a text of more than 1 GiB";
    if (ok()) value(0, &root);
    if (ok()) {
      space();
      if (at_ != text_.size()) problem_ = "more text after the end of the value";
    }
    if (ok()) return {};
    if (no_memory_) return Status::out_of_memory("a JSON text", text_.size());
    return Status(ErrorKind::kUsage, "not valid JSON")
        .thing("byte %llu of the text", static_cast<unsigned long long>(at_))
        .found("%s", problem_);
  }

 private:
  static constexpr int kMaxDepth = 32;

  bool ok() const { return problem_ == nullptr; }
  bool more() const { return at_ < text_.size(); }
  char peek() const { return more() ? text_[at_] : '\0'; }
  void fail(const char* problem) {
    if (ok()) problem_ = problem;
  }
  void out_of_memory() {
    no_memory_ = true;
    fail("out of memory");
  }
  bool accept(char c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void space() {
    while (more() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r')) ++at_;
  }
  void literal(std::string_view word) {
    if (slice(text_, at_, word.size()) != word) return fail("an unknown word");
    at_ += word.size();
  }
  JsonDocument::Node& node(uint32_t index) { return document_.nodes_[index]; }

  void value(int depth, uint32_t* index) {
    space();
    *index = static_cast<uint32_t>(document_.nodes_.size());
    if (!document_.nodes_.push(JsonDocument::Node{})) return out_of_memory();
    if (depth > kMaxDepth) return fail("values nested too deeply");
    if (!more()) return fail("the text ends where a value should be");
    switch (peek()) {
      case '{':
        return container(depth, *index, JsonType::kObject, '}');
      case '[':
        return container(depth, *index, JsonType::kArray, ']');
      case '"': {
        const uint32_t text = string();
        node(*index).type = JsonType::kString;
        node(*index).text = text;
        return;
      }
      case 't':
        node(*index).boolean = true;
        [[fallthrough]];
      case 'f':
        node(*index).type = JsonType::kBool;
        return literal(peek() == 't' ? "true" : "false");
      case 'n':
        return literal("null");
      default:
        return number(*index);
    }
  }

  void container(int depth, uint32_t index, JsonType type, char closing) {
    ++at_;
    node(index).type = type;
    space();
    if (accept(closing)) return;
    uint32_t last = 0;
    while (ok()) {
      const uint32_t key = type == JsonType::kObject ? member_key() : 0;
      uint32_t child = 0;
      if (ok()) value(depth + 1, &child);
      if (!ok()) return;
      node(child).key = key;
      (last == 0 ? node(index).first : node(last).next) = child;
      last = child;
      ++node(index).size;
      space();
      if (accept(closing)) return;
      if (!accept(',')) return fail("no comma between two values");
    }
  }

  uint32_t member_key() {
    space();
    if (peek() != '"') fail("a key that is not a string");
    const uint32_t key = ok() ? string() : 0;
    space();
    if (ok() && !accept(':')) fail("no colon after a key");
    return key;
  }

  void put(uint32_t c) {
    if (c == 0) return fail("a zero character in a string");
    if (!document_.strings_.push(static_cast<char>(c))) out_of_memory();
  }

  void put_code_point(uint32_t code) {
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xC0 | code >> 6);
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12);
      put(0x80 | (code >> 6 & 63));
    } else {
      put(0xF0 | code >> 18);
      put(0x80 | (code >> 12 & 63));
      put(0x80 | (code >> 6 & 63));
    }
    put(0x80 | (code & 63));
  }

  uint32_t four_digits() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) {
        fail("a bad \\u escape");
        return 0;
      }
      code = code * 16 + static_cast<uint32_t>(digit);
      ++at_;
    }
    return code;
  }

  void unicode_escape() {
    uint32_t code = four_digits();
    if (code >= 0xD800 && code < 0xDC00) {
      if (!accept('\\') || !accept('u')) return fail("half of a surrogate pair");
      const uint32_t low = four_digits();
      if (low < 0xDC00 || low > 0xDFFF) return fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      return fail("half of a surrogate pair");
    }
    if (ok()) put_code_point(code);
  }

  void escape() {
    const char c = peek();
    ++at_;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        return put(static_cast<uint32_t>(c));
      case 'b':
        return put('\b');
      case 'f':
        return put('\f');
      case 'n':
        return put('\n');
      case 'r':
        return put('\r');
      case 't':
        return put('\t');
      case 'u':
        return unicode_escape();
      default:
        return fail("an unknown escape in a string");
    }
  }

  uint32_t string() {
    const uint32_t start = static_cast<uint32_t>(document_.strings_.size());
    ++at_;
    while (ok()) {
      if (!more()) {
        fail("a string without its closing quote");
        break;
      }
      const unsigned char c = static_cast<unsigned char>(text_[at_++]);
      if (c == '"') break;
      if (c < 0x20) {
        fail("a control character in a string");
      } else if (c == '\\') {
        escape();
      } else {
        put(c);
      }
    }
    if (!document_.strings_.push('\0')) out_of_memory();
    return start;
  }

  bool digits() {
    const size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ != start;
  }

  void number(uint32_t index) {
    const size_t start = at_;
    bool integral = true;
    accept('-');
    if (!accept('0') && !digits()) return fail("something that is not a value");
    if (accept('.')) {
      integral = false;
      if (!digits()) return fail("a number without digits after the point");
    }
    if (accept('e') || accept('E')) {
      integral = false;
      if (!accept('+')) accept('-');
      if (!digits()) return fail("a number without digits in the exponent");
    }
    convert(index, slice(text_, start, at_ - start), integral);
  }

  void convert(uint32_t index, std::string_view digits, bool integral) {
    char copy[64];
    if (digits.size() >= sizeof(copy)) return fail("a number of more than 63 characters");
    memcpy(copy, digits.data(), digits.size());
    copy[digits.size()] = 0;
    JsonDocument::Node& out = node(index);
    out.type = integral ? JsonType::kInteger : JsonType::kNumber;
    out.number = strtod(copy, nullptr);
    int64_t sum = 0;
    const bool negative = copy[0] == '-';
    for (const char* p = copy + negative; integral && *p != 0; ++p) {
      const int64_t digit = negative ? -(*p - '0') : *p - '0';
      if (!checked_multiply(sum, int64_t{10}, &sum) || !checked_add(sum, digit, &sum)) {
        return fail("an integer of more than 64 bits");
      }
    }
    out.integer = sum;
  }

  JsonDocument& document_;
  std::string_view text_;
  size_t at_ = 0;
  const char* problem_ = nullptr;
  bool no_memory_ = false;
};

Status JsonDocument::parse(std::string_view text) { return JsonParser(this, text).parse(); }

}  // namespace cuvil
