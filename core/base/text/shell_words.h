// shell words - the command that has a text read by sh.
#pragma once

// System.
#include <string>
#include <string_view>
#include <vector>

namespace fq {

/// "--", or none, in front of a text that would be taken for options.
inline std::vector<std::string> words_of_shell(std::string_view text) {
  std::vector<std::string> words{"sh", "-c"};
  if (text.starts_with('-') || text.starts_with('+')) words.emplace_back("--");
  words.emplace_back(text);
  return words;
}

}  // namespace fq
