#include "core/api/explanation.h"

// fq, below us.
#include "core/base/assert.h"

namespace fq {

std::string_view name_of(Reason::Kind kind) {
  switch (kind) {
    case Reason::Kind::paused:
      return "paused";
    case Reason::Kind::limited:
      return "limited";
    case Reason::Kind::concurrency:
      return "concurrency";
    case Reason::Kind::rate:
      return "rate";
    case Reason::Kind::gathering:
      return "gathering";
    case Reason::Kind::pool_concurrency:
      return "pool_concurrency";
    case Reason::Kind::pool_rate:
      return "pool_rate";
    case Reason::Kind::delayed:
      return "delayed";
    case Reason::Kind::leased:
      return "leased";
    case Reason::Kind::held:
      return "held";
    case Reason::Kind::dead:
      return "dead";
    case Reason::Kind::expired:
      return "expired";
    case Reason::Kind::ended:
      return "ended";
  }
  FQ_ASSERT(false && "a reason without a name");
  return "";
}

std::optional<Reason::Kind> reason_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Reason::Kind::ended); ++i) {
    const auto kind = static_cast<Reason::Kind>(i);
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

}  // namespace fq
