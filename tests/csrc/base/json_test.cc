// Requests come over a pipe and may be anything: what is JSON is read exactly, all else is refused, nothing crashes.
#include "base/json.h"

#include <string.h>

#include <cmath>
#include <string>

#include "check.h"
#include "guarded.h"

using cuvil::JsonDocument;
using cuvil::JsonType;
using cuvil::JsonValue;
using cuvil::JsonWriter;
using cuvil::Text;

namespace {

void test_values() {
  JsonDocument document;
  const char* text =
      R"( {"id": -7, "x": 1.5e2, "s": "a\"\\\/\n\u00e9\ud83d\ude00", "l": [1, [2, []], {}], "t": true, "f": false, "n": null} )";
  CHECK(document.parse(text).ok(), "parse");
  const JsonValue root = document.root();
  CHECK(root.size() == 7, "size %u", root.size());
  CHECK(root.find("id").is(JsonType::kInteger) && root.find("id").integer() == -7, "id");
  CHECK(root.find("x").is(JsonType::kNumber) && root.find("x").number() == 150, "x");
  CHECK(strcmp(root.find("s").text(), "a\"\\/\n\xc3\xa9\xf0\x9f\x98\x80") == 0, "s: %s", root.find("s").text());
  CHECK(root.find("t").boolean() && !root.find("f").boolean() && root.find("n").is(JsonType::kNull), "words");
  const JsonValue list = root.find("l");
  CHECK(list.size() == 3 && list.first().integer() == 1, "list");
  CHECK(list.first().next().size() == 2 && list.first().next().first().next().is(JsonType::kArray), "inner list");
  CHECK(!list.first().next().next().next().present(), "end of list");
  CHECK(!root.find("absent").present() && !list.find("id").present(), "absent");
}

void test_integers_at_the_limits() {
  JsonDocument document;
  CHECK(document.parse("[9223372036854775807, -9223372036854775808]").ok(), "parse");
  CHECK(document.root().first().integer() == INT64_MAX, "max");
  CHECK(document.root().first().next().integer() == INT64_MIN, "min");
  CHECK(!document.parse("9223372036854775808").ok(), "too big");
  CHECK(!document.parse("-9223372036854775809").ok(), "too small");
}

void test_refusals() {
  const char* bad[] = {"",           " ",        "{",        "[1,]",        "[1 2]",       "{\"a\"}",
                       "{\"a\":}",   "{a:1}",    "01",       "1.",          ".5",          "-",
                       "1e",         "\"",       "\"\\x\"",  "\"\\u12\"",   "tru",         "nul",
                       "[1]x",       "\"\x01\"", "\"a\nb\"", "\"\\u0000\"", "\"\\ud800\"", "\"\\udc00\"",
                       "{\"a\":1,}", "[",        "]",        "+1",          "NaN",         "\"\\ud800\\u0041\""};
  JsonDocument document;
  for (const char* text : bad) {
    const cuvil::Status status = document.parse(text);
    CHECK(status.kind() == cuvil::ErrorKind::kUsage, "accepted: %s", text);
  }
  const std::string deep(1000, '[');
  CHECK(!document.parse(deep).ok(), "1000 levels");
  CHECK(!document.parse(std::string(200, '1')).ok(), "200 digits");
  CHECK(document.parse("[[[1]]]").ok(), "usable after refusals");
}

void test_every_prefix_of_a_request() {
  const std::string text = R"({"id":2,"cmd":"run","inputs":[{"path":"in\u00e9.bin","shape":[1,3]}],"x":-1.5e-3})";
  JsonDocument document;
  for (size_t length = 0; length < text.size(); ++length) {
    CHECK(!document.parse({text.data(), length}).ok(), "prefix of %zu", length);
  }
  CHECK(document.parse(text).ok(), "whole");
}

/// Whatever comes: an answer, and no access outside the text (the sanitizers look on).
void test_random_damage() {
  const std::string text = R"({"id":2,"cmd":"run","inputs":[{"path":"a\\\u00e9","shape":[1,-3.5e2]}],"t":[true,null]})";
  const char bytes[] = "{}[]\",:\\u0e-+.tfn\xff\x01 ";
  cuvil::test::Random random(7);
  JsonDocument document;
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = text.substr(0, static_cast<size_t>(random.between(1, static_cast<int>(text.size()))));
    for (int k = random.between(0, 4); k > 0; --k) {
      damaged[static_cast<size_t>(random.between(0, static_cast<int>(damaged.size()) - 1))] =
          bytes[random.between(0, static_cast<int>(sizeof(bytes)) - 2)];
    }
    if (!document.parse(damaged).ok()) continue;
    ++accepted;
    (void)document.root().find("inputs").first().find("path").text();
  }
  CHECK(accepted > 0 && accepted < 20000, "%d accepted", accepted);
}

void test_writer_is_read_back() {
  Text out;
  JsonWriter json(&out);
  json.begin_object();
  json.member("text", "quote \" backslash \\ newline \n \x01 é");
  json.key("list");
  json.begin_array();
  json.integer(INT64_MIN);
  json.number(0.1);
  json.number(NAN);
  json.number(INFINITY);
  json.boolean(true);
  json.begin_array();
  json.end_array();
  json.end_array();
  json.member_unsigned("u", 18446744073709551615u);
  json.end_object();
  CHECK(out.view() ==
            "{\"text\":\"quote \\\" backslash \\\\ newline \\u000a \\u0001 é\",\"list\":[-9223372036854775808,"
            "0.10000000000000001,null,null,true,[]],\"u\":18446744073709551615}",
        "%s", out.c_str());
}

}  // namespace

int main() {
  test_values();
  test_integers_at_the_limits();
  test_refusals();
  test_every_prefix_of_a_request();
  test_random_damage();
  test_writer_is_read_back();
  return cuvil::test::finish("json");
}
