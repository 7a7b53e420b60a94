#include "core/local/shared/needs.h"

namespace fq {

Need need_of(const MessageItem& message) {
  Need need = Growth::need_of(message.tenant, message.key);
  if (message.terms.empty()) return need;
  need.extras = 1;
  need.keys = 1;
  if (const auto terms = decode_terms(message.terms)) {
    need.waits = static_cast<uint32_t>(terms->after.size() / 8);
    if (terms->imported) need.keys = 2;
  }
  return need;
}

Need need_of(const SteppedRecord& step) {
  Need need = KeptSteps::need();
  need.waits = static_cast<uint32_t>(step.after.size() / 8);
  return need;
}

}  // namespace fq
