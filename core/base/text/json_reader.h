// json_reader - one line of NDJSON: an object whose values are text, numbers, true, false, null, or one
// level of an object or array of those.
//
// Strict: valid UTF-8, no lone surrogates, no duplicate keys, no trailing commas, nothing behind the
// object. Numbers keep their text, so that no digit is lost. A fault is a sentence for a person.
// No library: batches need exactly this much, and a line that is refused must say why in our words.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>

namespace fq {

struct JsonMember;
struct JsonValue {
  enum class Kind { null, boolean, number, text, object, array };
  Kind kind = Kind::null;
  bool boolean = false;
  std::string text;                 // of a text, or a number as written
  std::vector<JsonMember> members;  // of an object; of an array with empty names
};

struct JsonMember {
  std::string name;
  JsonValue value;
};

struct JsonRead {
  std::string fault;  // "" when all is well
  JsonValue object;
};

JsonRead read_json_object(std::string_view line);

}  // namespace fq
