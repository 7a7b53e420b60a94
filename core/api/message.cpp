#include "core/api/message.h"

// fq, below us.
#include "core/base/assert.h"

namespace fq {

std::string_view name_of(State state) {
  switch (state) {
    case State::ready:
      return "ready";
    case State::delayed:
      return "delayed";
    case State::leased:
      return "leased";
    case State::held:
      return "held";
    case State::dead:
      return "dead";
    case State::acked:
      return "acked";
    case State::cancelled:
      return "cancelled";
  }
  FQ_ASSERT(!"a state without a name");
  return "";
}

}  // namespace fq
