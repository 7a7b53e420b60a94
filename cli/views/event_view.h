// event_view - one event as JSON or for a person's eyes, many of them in a row.
//
// Keys of the JSON form are a contract (fq.1): every key is there, null without a value, keys are only ever
// added. A log has millions of events, so nothing is made anew for each that can be kept.
#pragma once

// System.
#include <string>
// fq, below us.
#include "core/api/event.h"
#include "core/base/text/json_writer.h"

namespace fq::cli {

/// Times as text; those of one second share their front.
class TimeText {
 public:
  using Format = std::string (*)(int64_t wall_ms);
  /// `format` ends in ".250", or ".250Z".
  explicit TimeText(Format format) : format_(format) {}
  /// Good until the next call.
  std::string_view of(int64_t wall_ms);

 private:
  Format format_;
  int64_t second_ = INT64_MIN;
  std::string text_;
};

class EventView {
 public:
  explicit EventView(std::string_view queue);

  /// One object, appended to `to`.
  void append_json(std::string& to, const Event& event);
  /// One line and its end, appended to `to`.
  void append_line(std::string& to, const Event& event);
  /// The part of the line behind the tenant, `between` first and ", " between the others.
  void append_details(std::string& to, const Event& event, std::string_view between = "");

 private:
  void append_settings(std::string& to, const PolicyPatch& patch);

  std::string queue_;  // as JSON
  TimeText time_;      // of JSON
  TimeText local_;     // of lines
};

/// "exit 3" or "signal 9"; "": neither, or `reason` says it.
std::string status_text(std::optional<int> exit, std::optional<int> signal, std::string_view reason);

/// An event as history tells it, as a view of it.
Event view_of(const HistoryEvent& event, MessageId id, std::string_view tenant);

}  // namespace fq::cli
