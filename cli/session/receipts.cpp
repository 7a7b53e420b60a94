#include "cli/session/receipts.h"

// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/terminal/input.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

Result<std::vector<std::string>> receipts_of(const Arguments& arguments) {
  if (!arguments.operands().empty()) return expand_dash(arguments.operands());
  if (const auto set = environment("FQ_RECEIPT")) return std::vector<std::string>{*set};
  return usage_error(std::string(arguments.command().name), "needs a receipt; give one, or set FQ_RECEIPT");
}

bool say_refusal(std::string_view receipt, SettleStatus status, const std::optional<Error>& why) {
  const std::string object = "receipt " + in_quotes(receipt) + ": ";
  switch (status) {
    case SettleStatus::ok:
    case SettleStatus::buried:
      return false;
    case SettleStatus::stale:
      say(object + "no longer valid; its lease ended or another verdict came first");
      return true;
    case SettleStatus::gone:
      say(object + "no longer valid; its message has ended or never was");
      return true;
    case SettleStatus::invalid:
      say(object + "is no receipt; receipts look like 17.3 and come from fq pop --lease");
      return true;
    case SettleStatus::unknown:
      say(why ? object + why->text : object + "the outcome is unknown");
      return true;
  }
  return true;
}

}  // namespace fq::cli
