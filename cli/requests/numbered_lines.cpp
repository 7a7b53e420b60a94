#include "cli/requests/numbered_lines.h"

namespace fq::cli {

Result<bool> NumberedLines::next(std::string_view& line) {
  for (size_t searched = at_;;) {
    const size_t end = text_.find('\n', searched);
    if (end != std::string::npos || (at_end_ && at_ < text_.size())) {
      line = std::string_view(text_).substr(at_, end == std::string::npos ? end : end - at_);
      at_ = end == std::string::npos ? text_.size() : end + 1;
      ++number_;
      return true;
    }
    if (at_end_) return false;
    text_.erase(0, at_);
    at_ = 0;
    searched = text_.size();
    if (searched > bytes_max_) {
      ++number_;
      return fault(Error{ErrorKind::bad_data, "is too long for " + std::string(what_), 0});
    }
    FQ_TRY_SET(const bool more, reader_.read_some(text_));
    at_end_ = !more;
  }
}

Error NumberedLines::fault(const Error& error) const {
  return Error{ErrorKind::bad_data, reader_.name() + ": line " + std::to_string(number_) + ": " + error.text,
               0};
}

}  // namespace fq::cli
