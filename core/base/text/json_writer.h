// json_writer - one JSON object a line, written straight into a string.
//
// Keys come out in the order of the calls. Text that is no UTF-8 must not reach a JSON reader as it is:
// text() replaces each bad byte by U+FFFD; payloads go through payload(), which falls back to base64.
// No library: writing eight kinds of values needs none, and start-up time counts.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fq {

class JsonWriter {
 public:
  explicit JsonWriter(std::string& to) : to_(to) {}

  JsonWriter& begin_object() { return separate(), to_.push_back('{'), first_ = true, *this; }
  JsonWriter& end_object() { return to_.push_back('}'), first_ = false, *this; }
  JsonWriter& begin_array() { return separate(), to_.push_back('['), first_ = true, *this; }
  JsonWriter& end_array() { return to_.push_back(']'), first_ = false, *this; }

  JsonWriter& key(std::string_view name);
  JsonWriter& text(std::string_view value);
  JsonWriter& number(uint64_t value);
  JsonWriter& number(int64_t value);
  JsonWriter& number(double value);  // at most three digits behind the point
  JsonWriter& boolean(bool value);
  JsonWriter& null();

  /// Both keys: `payload` when it is UTF-8, else `payload_base64`; the other one is null.
  JsonWriter& payload(std::string_view bytes);

 private:
  void separate();
  std::string& to_;
  bool first_ = true;
};

}  // namespace fq
