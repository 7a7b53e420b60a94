// splitter - the items of an input, one after the other, each known by its number when it is at fault.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, this room.
#include "cli/terminal/input.h"

namespace fq::cli {

class Splitter {
 public:
  Splitter(Reader& source, char separator, uint64_t item_bytes_max)
      : source_(source), separator_(separator), item_bytes_max_(item_bytes_max) {}

  enum class Next { item, pause, end };

  /// The next item, in `item` until the next call; `pause` when none is complete and nothing more has come.
  /// With `wait` never `pause`.
  Result<Next> next(std::string_view& item, bool wait) {
    for (;;) {
      const size_t end = buffer_.find(separator_, searched_);
      if (end != std::string::npos) return take(item, end, end + 1);
      searched_ = buffer_.size();
      if (at_end_)
        return at_ < buffer_.size() ? take(item, buffer_.size(), buffer_.size()) : Result<Next>(Next::end);
      if (buffer_.size() - at_ > item_bytes_max_) return too_long();
      if (!wait && !source_.ready()) return Next::pause;
      buffer_.erase(0, at_);
      searched_ -= at_;
      at_ = 0;
      FQ_TRY_SET(const bool more, source_.read_some(buffer_));
      at_end_ = !more;
    }
  }

  uint64_t number() const { return number_; }
  Error at_line(Error error, uint64_t number) const {
    error.text = source_.name() + ": line " + std::to_string(number) + ": " + error.text;
    return error;
  }
  Error fault(Error error) const {
    error.kind = ErrorKind::bad_data;
    return at_line(std::move(error), number_);
  }

 private:
  Result<Next> take(std::string_view& item, size_t end, size_t resume) {
    item = std::string_view(buffer_).substr(at_, end - at_);
    at_ = searched_ = resume;
    ++number_;
    if (item.size() > item_bytes_max_) return --number_, too_long();
    return Next::item;
  }
  Error too_long() {
    ++number_;
    return fault(payload_too_long("payload", item_bytes_max_));
  }

  Reader& source_;
  const char separator_;
  const uint64_t item_bytes_max_;
  std::string buffer_;
  size_t at_ = 0;        // where the next item starts
  size_t searched_ = 0;  // no separator in [at_, searched_)
  uint64_t number_ = 0;  // of the item given last
  bool at_end_ = false;
};

}  // namespace fq::cli
