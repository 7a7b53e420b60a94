// pattern - names with a wildcard: `*` stands for any number of characters, but never for `/`.
#pragma once

// System.
#include <string_view>

namespace fq {

/// Whether `pattern` takes in the whole `name`.
bool pattern_matches(std::string_view pattern, std::string_view name);

/// The beginning of every name that `pattern` matches: all before its first `*`.
inline std::string_view pattern_prefix(std::string_view pattern) {
  return pattern.substr(0, pattern.find('*'));
}

}  // namespace fq
