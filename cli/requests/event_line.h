// event_line - one line of `fq log --json`, read back: an event that owns its texts.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/event.h"
#include "core/base/result.h"
#include "core/base/text/json_reader.h"

namespace fq::cli {

class EventLine {
 public:
  /// The views of event() are good until the next call. It passes over keys that it does not know: keys are
  /// added. A fault, ErrorKind::bad_data, is a sentence without the line's number.
  Result<void> read(std::string_view line);

  const Event& event() const { return event_; }
  const std::string& queue() const { return queue_; }

 private:
  Result<void> take(const std::string& key, const JsonValue& value);
  Result<void> take_text(const std::string& key, const JsonValue& value);
  Result<void> take_time(const std::string& key, const JsonValue& value, int64_t& to);
  Result<void> take_number(const std::string& key, const JsonValue& value);
  Result<void> take_ids(const std::string& key, const JsonValue& value, std::string& to);
  Result<void> take_settings(const JsonValue& value);

  Event event_;
  std::string queue_, word_, tenant_, key_, after_, after_any_;
  PolicyPatch set_;
};

}  // namespace fq::cli
