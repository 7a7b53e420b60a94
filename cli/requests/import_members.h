// import_members - the members of one line of an export, each taken once by its name and read as what it must
// be.
//
// A fault is bad data, and a sentence without the line's number.
#pragma once

// System.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/base/text/base64.h"
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
#include "core/base/text/json_reader.h"
// fq, this room.
#include "cli/words/values.h"

namespace fq::cli {

inline Error bad_export(std::string text) { return Error{ErrorKind::bad_data, std::move(text), 0}; }
inline Error wrong_member(std::string_view key, std::string_view expected) {
  return bad_export(std::string(key).append(": must be ").append(expected));
}

/// The members of an object, each taken once; what nobody took is of a newer fq, or mistyped.
class Members {
  using Kind = JsonValue::Kind;

 public:
  explicit Members(const std::vector<JsonMember>& all) : all_(all) {}

  /// Null where there is none, or it is null.
  const JsonValue* take(std::string_view name) {
    for (const JsonMember& member : all_) {
      if (member.name != name) continue;
      taken_.emplace(name);
      return member.value.kind == Kind::null ? nullptr : &member.value;
    }
    return nullptr;
  }
  Result<std::string> text(std::string_view name) {
    const JsonValue* const value = take(name);
    if (value == nullptr) return std::string();
    if (value->kind != Kind::text) return wrong_member(name, "text in quotes");
    return value->text;
  }
  Result<std::string> needed(std::string_view name) {
    FQ_TRY_SET(std::string found, text(name));
    if (found.empty()) return bad_export(std::string(name) + ": is missing");
    return found;
  }
  /// Text, or under NAME_base64 any bytes.
  Result<std::string> bytes(const std::string& name) {
    FQ_TRY_SET(std::string plain, text(name));
    FQ_TRY_SET(const std::string coded, text(name + "_base64"));
    if (coded.empty()) return plain;
    if (!plain.empty()) return bad_export(name + ": does not go with " + name + "_base64");
    std::optional<std::string> decoded = base64_decode(coded);
    if (!decoded) return bad_export(name + "_base64: is not base64");
    return *std::move(decoded);
  }
  Result<uint64_t> count(std::string_view name, uint64_t most) {
    const JsonValue* const value = take(name);
    if (value == nullptr) return uint64_t{0};
    const std::optional<uint64_t> count =
        value->kind == Kind::number ? parse_decimal(value->text) : std::nullopt;
    if (!count || *count > most) return wrong_member(name, "a number of at most " + std::to_string(most));
    return *count;
  }
  Result<bool> yes(std::string_view name) {
    const JsonValue* const value = take(name);
    if (value != nullptr && value->kind != Kind::boolean) return wrong_member(name, "true or false");
    return value != nullptr && value->boolean;
  }
  Result<int64_t> time(std::string_view name) {
    FQ_TRY_SET(const std::string typed, text(name));
    return typed.empty() ? Result<int64_t>(int64_t{0}) : to_wall_time(name, typed);
  }
  Result<std::optional<int64_t>> span(std::string_view name) {
    FQ_TRY_SET(const std::string typed, text(name));
    if (typed.empty()) return std::optional<int64_t>();
    FQ_TRY_SET(const int64_t ms, to_duration(name, typed));
    return std::optional(ms);
  }
  Result<std::vector<std::string>> words(const std::string& name) {
    const JsonValue* list = take(name);
    const JsonValue* const coded = take(name + "_base64");
    if (list != nullptr && coded != nullptr)
      return bad_export(name + ": does not go with " + name + "_base64");
    std::vector<std::string> words;
    if (list == nullptr) list = coded;
    if (list == nullptr) return words;
    if (list->kind != Kind::array) return wrong_member(name, "an array of texts");
    for (const JsonMember& each : list->members) {
      const auto word = each.value.kind != Kind::text ? std::nullopt
                        : coded != nullptr            ? base64_decode(each.value.text)
                                                      : std::optional(each.value.text);
      if (!word) return wrong_member(name, "an array of texts");
      words.push_back(*word);
    }
    return words;
  }
  Result<std::vector<MessageId>> ids(std::string_view name) {
    std::vector<MessageId> ids;
    const JsonValue* const list = take(name);
    if (list == nullptr) return ids;
    if (list->kind != Kind::array) return wrong_member(name, "an array of ids");
    for (const JsonMember& each : list->members) {
      if (each.value.kind != Kind::number) return wrong_member(name, "an array of ids");
      FQ_TRY_SET(const MessageId id, to_id(name, each.value.text));
      ids.push_back(id);
    }
    return ids;
  }
  Result<void> nothing_left() const {
    for (const JsonMember& member : all_) {
      if (!taken_.contains(member.name))
        return bad_export("unknown key " + in_quotes(member.name) + "; a newer fq may have written it");
    }
    return {};
  }

 private:
  const std::vector<JsonMember>& all_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace fq::cli
