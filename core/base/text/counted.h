// counted - a number of things, in words.
#pragma once

// System.
#include <cstdint>
#include <string>
#include <string_view>

namespace fq {

/// "1 record", "2 records"; with `many` where an s is not enough: counted(2, "reply", "replies").
inline std::string counted(uint64_t count, std::string_view one, std::string_view many = {}) {
  std::string text = std::to_string(count).append(" ");
  if (count == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

}  // namespace fq
