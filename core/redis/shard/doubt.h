// doubt - whether what was asked for was done although its answer was lost. A refusal of a later try does not
// tell: until there is an answer the outcome is unknown, and is told as that.
//
// All that is asked for once more is asked for by it.
#pragma once

// System.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
// fq, below us.
#include "core/base/result.h"

namespace fq {

/// Of a refusal after which something else is done than to try again.
inline std::string without_advice(std::string_view why) {
  constexpr std::string_view kTryAgain = "; try again";
  if (why.ends_with(kTryAgain)) why.remove_suffix(kTryAgain.size());
  return std::string(why);
}

class Doubt {
 public:
  /// `link`: by which all of it goes.
  template <class Link>
  explicit Doubt(Link& link) : was_cut_([&link](const Error& error) { return link.was_cut(error); }) {}

  /// What `ask()` says, or `again()` where the answer to that was lost and another one may come. Either may
  /// be in the way of more that is asked for: only told() is for the caller.
  template <class Ask, class Again>
  auto ask(const Ask& ask, const Again& again) -> decltype(ask()) {
    auto said = ask();
    if (!note(said)) return said;
    auto other = again();
    note(other);
    return other;
  }

  template <class T>
  Result<T> told(Result<T> said) const {
    if (said || !lost_ || said.error().kind == ErrorKind::io) return said;
    const std::string why = without_advice(said.error().text);  // it could be done twice
    Error error{ErrorKind::io, lost_->text + "; asked again, " + why, lost_->sys};
    error.passes = said.error().kind == ErrorKind::later;
    return error;
  }

 private:
  /// True: another may be asked for.
  template <class T>
  bool note(const Result<T>& said) {
    if (said || said.error().kind != ErrorKind::io) return false;
    lost_ = said.error();
    return was_cut_(*lost_);
  }

  const std::function<bool(const Error&)> was_cut_;
  std::optional<Error> lost_;
};

/// Of what may be done twice.
template <class Link, class Ask>
auto ask_twice(Link& link, const Ask& ask) -> decltype(ask()) {
  Doubt doubt(link);
  return doubt.told(doubt.ask(ask, ask));
}

}  // namespace fq
