// suggestion - "did you mean": the known word nearest to a mistyped one, or all that there are.
#pragma once

// System.
#include <span>
#include <string>
#include <string_view>

namespace fq {

/// A word of other tools for what we call otherwise.
struct Synonym {
  std::string_view theirs;
  std::string_view ours;
};

/// The candidate with the fewest inserted, removed, changed or swapped letters, or "" when none is near
/// enough to be worth a mention.
std::string_view suggest(std::string_view word, std::span<const std::string_view> candidates);

/// `a, b or c`, each in `quote`.
std::string either(std::span<const std::string_view> words, std::string_view quote = "");

}  // namespace fq
