#include "core/base/text/json_reader.h"

// System.
#include <algorithm>
#include <cstdint>
// fq, this room.
#include "core/base/text/utf8.h"

namespace fq {

namespace {

using Kind = JsonValue::Kind;

constexpr int kDepthMax = 32;  // deeper than any key takes: the reader of the object says what is wrong

/// A recursive descent over one object, in a line or in several. Every function returns false once `fault_`
/// is set.
class Reader {
 public:
  explicit Reader(std::string_view line) : line_(line) {}

  JsonRead read() {
    JsonRead result;
    if (!utf8_valid(line_)) {
      fail("is not UTF-8");
    } else {
      skip_space();
      if (peek() != '{') {
        fail("is not a JSON object");
      } else if (value(result.object, 1)) {
        skip_space();
        if (at_ != line_.size()) fail("has something behind the object");
      }
    }
    result.fault = fault_;
    return result;
  }

 private:
  bool fail(std::string_view why) {
    if (fault_.empty()) fault_ = std::string(why);
    return false;
  }
  bool fail_here(std::string_view why) {
    const std::string_view before = line_.substr(0, at_);
    const auto newlines = std::count(before.begin(), before.end(), '\n');
    const size_t line_begin = before.rfind('\n') + 1;  // 0, too, where there is none
    return fail("has " + std::string(why) +
                (newlines == 0 ? "" : " in line " + std::to_string(newlines + 1)) + " at character " +
                std::to_string(at_ - line_begin + 1));
  }
  char peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= line_.size()) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < line_.size() &&
           (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r' || line_[at_] == '\n'))
      ++at_;
  }
  bool word(std::string_view expected) {
    if (line_.substr(at_, expected.size()) != expected) return fail_here("no JSON value");
    at_ += expected.size();
    return true;
  }

  bool value(JsonValue& to, int depth) {
    skip_space();
    switch (peek()) {
      case '{':
        return depth > kDepthMax ? fail("is nested too deeply") : members(to, depth, '}');
      case '[':
        return depth > kDepthMax ? fail("is nested too deeply") : members(to, depth, ']');
      case '"':
        to.kind = Kind::text;
        return string(to.text);
      case 't':
        to.kind = Kind::boolean;
        to.boolean = true;
        return word("true");
      case 'f':
        to.kind = Kind::boolean;
        return word("false");
      case 'n':
        return word("null");
      default:
        to.kind = Kind::number;
        return number(to.text);
    }
  }

  /// An object or an array, which only differ in the names and the closing bracket.
  bool members(JsonValue& to, int depth, char close) {
    to.kind = close == '}' ? Kind::object : Kind::array;
    ++at_;
    skip_space();
    if (take(close)) return true;
    for (;;) {
      auto& [name, member] = to.members.emplace_back();
      if (close == '}' && !member_name(name)) return false;
      if (!value(member, depth + 1)) return false;
      skip_space();
      if (take(close)) return close == ']' || all_differ(to);
      if (!take(',')) return fail_here("no comma or closing bracket");
    }
  }

  bool member_name(std::string& name) {
    skip_space();
    if (peek() != '"') return fail_here("no key in quotes");
    if (!string(name)) return false;
    skip_space();
    if (!take(':')) return fail_here("no colon");
    return true;
  }

  bool all_differ(const JsonValue& object) {
    std::vector<std::string_view> names;
    names.reserve(object.members.size());
    for (const auto& member : object.members) names.push_back(member.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() || fail("has the key '" + std::string(*twice) + "' twice");
  }

  bool number(std::string& to) {
    const size_t start = at_;
    take('-');
    const size_t whole = at_;
    if (!digits()) return at_ = start, fail_here("no JSON value");
    if (line_[whole] == '0' && at_ - whole > 1) return at_ = start, fail_here("a number with a leading zero");
    if (take('.') && !digits()) return fail_here("no digit");
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return fail_here("no digit");
    }
    to = std::string(line_.substr(start, at_ - start));
    return true;
  }
  bool digits() {
    const size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ > start;
  }

  bool string(std::string& to) {
    ++at_;
    for (;;) {
      // Plain stretches are copied whole: payloads are long and mostly plain.
      const size_t start = at_;
      while (at_ < line_.size() && line_[at_] != '"' && line_[at_] != '\\' &&
             static_cast<unsigned char>(line_[at_]) >= 0x20)
        ++at_;
      to.append(line_.substr(start, at_ - start));
      if (at_ >= line_.size()) return fail("has a text without its end");
      if (take('"')) return true;
      if (line_[at_] != '\\') return fail_here("a bare control character");
      ++at_;
      if (!escape(to)) return false;
    }
  }

  bool escape(std::string& to) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) return unicode_escape(to);
    const size_t which = at_ < line_.size() ? kNames.find(line_[at_]) : std::string_view::npos;
    if (which == std::string_view::npos) return fail_here("an unknown escape");
    ++at_;
    to.push_back(kMeanings[which]);
    return true;
  }

  bool unicode_escape(std::string& to) {
    uint32_t code;
    if (!four_hex(code)) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      uint32_t low = 0;
      if (!take('\\') || !take('u')) return fail("has half a surrogate pair");
      if (!four_hex(low)) return false;
      if (low < 0xdc00 || low >= 0xe000) return fail("has half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return fail("has half a surrogate pair");
    }
    utf8_append(to, code);
    return true;
  }

  bool four_hex(uint32_t& code) {
    code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      uint32_t digit;
      if (c >= '0' && c <= '9') {
        digit = static_cast<uint32_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        digit = static_cast<uint32_t>(c - 'a') + 10;
      } else if (c >= 'A' && c <= 'F') {
        digit = static_cast<uint32_t>(c - 'A') + 10;
      } else {
        return fail_here("a bad \\u escape");
      }
      code = code << 4 | digit;
    }
    return true;
  }

  std::string_view line_;
  size_t at_ = 0;
  std::string fault_;
};

}  // namespace

JsonRead read_json_object(std::string_view line) { return Reader(line).read(); }

}  // namespace fq
