// A pipe cuts lines anywhere; a line without end must not eat all memory.
#include <unistd.h>

#include <string>

#include "agent/server.h"
#include "check.h"

using Outcome = cuvil::LineReader::Outcome;

namespace {

struct Pipe {
  int ends[2];
  Pipe() {
    if (pipe(ends) != 0) _exit(2);
  }
  ~Pipe() {
    close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
  }
  void put(const std::string& text) { CHECK(cuvil::write_all(ends[1], text.data(), text.size()) == 0, "write"); }
  void end() {
    close(ends[1]);
    ends[1] = -1;
  }
};

void* write_slowly(void* argument) {
  Pipe* pipe = static_cast<Pipe*>(argument);
  const std::string long_line(3 * cuvil::LineReader::kMaxLineBytes, 'x');
  for (char c : std::string("one\n\nthree\n")) pipe->put(std::string(1, c));
  pipe->put(long_line + "\nafter\nlast without newline");
  pipe->end();
  return nullptr;
}

}  // namespace

int main() {
  Pipe pipe;
  pthread_t writer;
  pthread_create(&writer, nullptr, write_slowly, &pipe);
  cuvil::LineReader reader(pipe.ends[0]);
  std::string_view line;
  CHECK(reader.next(&line) == Outcome::kLine && line == "one", "first");
  CHECK(reader.next(&line) == Outcome::kLine && line.empty(), "empty line");
  CHECK(reader.next(&line) == Outcome::kLine && line == "three", "third");
  CHECK(reader.next(&line) == Outcome::kTooLong, "too long");
  CHECK(reader.next(&line) == Outcome::kLine && line == "after", "the line after a long one");
  CHECK(reader.next(&line) == Outcome::kLine && line == "last without newline", "last");
  CHECK(reader.next(&line) == Outcome::kEnd, "end");
  CHECK(reader.next(&line) == Outcome::kEnd, "end again");
  pthread_join(writer, nullptr);
  return cuvil::test::finish("line_reader");
}
