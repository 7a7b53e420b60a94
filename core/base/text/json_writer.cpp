#include "core/base/text/json_writer.h"

// System.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
// fq, this room.
#include "core/base/text/base64.h"
#include "core/base/text/utf8.h"

namespace fq {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

void append_escape(std::string& to, uint32_t code) {
  switch (code) {
    case '"':
      to += "\\\"";
      return;
    case '\\':
      to += "\\\\";
      return;
    case '\n':
      to += "\\n";
      return;
    case '\r':
      to += "\\r";
      return;
    case '\t':
      to += "\\t";
      return;
    default:
      break;
  }
  char text[8];
  std::snprintf(text, sizeof text, "\\u%04x", code & 0xffff);
  to += text;
}

/// C1 controls and DEL too: JSON allows them, but a terminal that shows the line would obey them.
bool needs_escape(uint32_t code) { return code == '"' || code == '\\' || is_control(code); }

/// How many bytes at the front are ASCII that stands for itself: nearly all that is ever written.
size_t plain_bytes(std::string_view text) {
  const auto stands_for_itself = [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\'; };
  const auto* const end = std::find_if_not(text.begin(), text.end(), stands_for_itself);
  return static_cast<size_t>(end - text.begin());
}

void append_string(std::string& to, std::string_view value) {
  to.push_back('"');
  size_t done = 0;
  while (done < value.size()) {
    const size_t plain = plain_bytes(value.substr(done));
    to.append(value.substr(done, plain));
    done += plain;
    if (done == value.size()) break;
    const std::string_view rest = value.substr(done);
    const Utf8Char next = utf8_next(rest);
    if (next.bytes == 0) {
      to += kReplacement;
      done += 1;
      continue;
    }
    if (needs_escape(next.code)) {
      append_escape(to, next.code);
    } else {
      to.append(rest.substr(0, next.bytes));
    }
    done += next.bytes;
  }
  to.push_back('"');
}

template <class Integer>
void append_integer(std::string& to, Integer value) {
  char text[24];
  to.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

void JsonWriter::separate() {
  if (!first_) to_.push_back(',');
  first_ = false;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  append_string(to_, name);
  to_.push_back(':');
  first_ = true;  // its value follows without a comma
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  append_string(to_, value);
  return *this;
}

JsonWriter& JsonWriter::number(uint64_t value) { return separate(), append_integer(to_, value), *this; }
JsonWriter& JsonWriter::number(int64_t value) { return separate(), append_integer(to_, value), *this; }

JsonWriter& JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  if (std::fabs(value) < 1e15 && value == std::trunc(value)) {
    append_integer(to_, static_cast<int64_t>(value));
    return *this;
  }
  char text[400];
  const char* const end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 3).ptr;
  std::string_view shown(text, static_cast<size_t>(end - text));
  while (shown.ends_with('0')) shown.remove_suffix(1);
  if (shown.ends_with('.')) shown.remove_suffix(1);
  to_ += shown;
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) { return separate(), to_ += value ? "true" : "false", *this; }
JsonWriter& JsonWriter::null() { return separate(), to_ += "null", *this; }

JsonWriter& JsonWriter::payload(std::string_view bytes) {
  if (utf8_valid(bytes)) return key("payload").text(bytes).key("payload_base64").null();
  return key("payload").null().key("payload_base64").text(base64_encode(bytes));
}

}  // namespace fq
