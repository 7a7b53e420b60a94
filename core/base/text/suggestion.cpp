#include "core/base/text/suggestion.h"

// System.
#include <algorithm>
#include <vector>

namespace fq {

namespace {

constexpr size_t kWordBytesMax = 64;  // longer ones are no typing mistake

/// Optimal string alignment distance; three rows are enough to see a swap.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view suggest(std::string_view word, std::span<const std::string_view> candidates) {
  if (word.empty() || word.size() > kWordBytesMax) return "";
  std::string_view best;
  size_t best_distance = word.size() <= 3 ? 2 : 3;  // exclusive: one slip in a short word, two in a long one
  for (const std::string_view candidate : candidates) {
    const size_t d = distance(word, candidate);
    if (d < best_distance && d < candidate.size()) best = candidate, best_distance = d;
  }
  return best;
}

std::string either(std::span<const std::string_view> words, std::string_view quote) {
  std::string text;
  for (size_t at = 0; at < words.size(); ++at) {
    if (at > 0) text += at + 1 == words.size() ? " or " : ", ";
    text.append(quote).append(words[at]).append(quote);
  }
  return text;
}

}  // namespace fq
