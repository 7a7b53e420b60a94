// argument_list - the arguments of one call, and the texts that were made for it.
#pragma once

// System.
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace fq {

class ArgumentList {
 public:
  /// Of the caller's: it has to live until the call is over.
  void borrow(std::string_view word) { words_.push_back(word); }
  void add(std::string word) { words_.push_back(texts_.emplace_back(std::move(word))); }
  const std::vector<std::string_view>& words() const { return words_; }

 private:
  std::deque<std::string> texts_;  // which stay where they are
  std::vector<std::string_view> words_;
};

}  // namespace fq
