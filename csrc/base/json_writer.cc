#include <cmath>

#include "base/json.h"

namespace cuvil {

void JsonWriter::separate() {
  if (comma_) out_->append(',');
  comma_ = true;
}

void JsonWriter::open(char c) {
  separate();
  out_->append(c);
  comma_ = false;
}

void JsonWriter::close(char c) {
  out_->append(c);
  comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  separate();
  quoted(name);
  out_->append(':');
  comma_ = false;
}

void JsonWriter::text(std::string_view value) {
  separate();
  quoted(value);
}

void JsonWriter::integer(int64_t value) {
  separate();
  out_->append_format("%lld", static_cast<long long>(value));
}

void JsonWriter::unsigned_integer(uint64_t value) {
  separate();
  out_->append_format("%llu", static_cast<unsigned long long>(value));
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  out_->append_format("%.17g", value);
}

void JsonWriter::boolean(bool value) {
  separate();
  out_->append(value ? "true" : "false");
}

void JsonWriter::null() {
  separate();
  out_->append("null");
}

void JsonWriter::quoted(std::string_view value) {
  out_->append('"');
  size_t done = 0;
  for (size_t i = 0; i < value.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(value[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out_->append(slice(value, done, i - done));
    done = i + 1;
    if (c == '"' || c == '\\') {
      out_->append('\\');
      out_->append(static_cast<char>(c));
    } else {
      out_->append_format("\\u%04x", c);
    }
  }
  out_->append(slice(value, done));
  out_->append('"');
}

}  // namespace cuvil
