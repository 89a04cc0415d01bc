#include <errno.h>
#include <unistd.h>

#include <cstring>

#include "agent/server.h"

namespace cuvil {

LineReader::Outcome LineReader::next(std::string_view* line) {
  if (buffer_.empty() && !buffer_.resize(kMaxLineBytes)) return Outcome::kEnd;
  for (;;) {
    char* start = buffer_.data() + begin_;
    if (void* newline = memchr(start, '\n', end_ - begin_); newline != nullptr) {
      *line = {start, static_cast<size_t>(static_cast<char*>(newline) - start)};
      begin_ += line->size() + 1;
      if (!skipping_) return Outcome::kLine;
      skipping_ = false;
      return Outcome::kTooLong;
    }
    if (ended_) {
      *line = {start, end_ - begin_};
      begin_ = end_;
      return line->empty() || skipping_ ? Outcome::kEnd : Outcome::kLine;
    }
    memmove(buffer_.data(), start, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (end_ == buffer_.size()) {
      skipping_ = true;
      end_ = 0;
    }
    const ssize_t got = read(fd_, buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ended_ = true;
    if (got > 0) end_ += static_cast<size_t>(got);
  }
}

}  // namespace cuvil
