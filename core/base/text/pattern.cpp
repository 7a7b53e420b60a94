#include "core/base/text/pattern.h"

// System.
#include <cstddef>

namespace fq {

bool pattern_matches(std::string_view pattern, std::string_view name) {
  // Greedy with one step back: the last `*` takes one more character whenever the rest does not fit.
  size_t p = 0, n = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos && name[resume] != '/') {
      n = ++resume;
      p = star + 1;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace fq
