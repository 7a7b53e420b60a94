#include "cli/commands/verdict.h"

// System.
#include <algorithm>
// fq, below us.
#include "core/base/escape.h"
#include "core/base/utf8.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/terminal/input.h"
#include "cli/session/session.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr size_t kVerdictsPage = 256;  // verdicts in one turn: arbitrary

}  // namespace

Result<std::vector<std::string>> receipts_of(const Arguments& arguments) {
  if (!arguments.operands().empty()) return expand_dash(arguments.operands());
  if (const auto set = environment("FQ_RECEIPT")) return std::vector<std::string>{*set};
  return usage_error("" + std::string(arguments.command().name),
                     "needs a receipt; give one, or set FQ_RECEIPT");
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

Result<Exit> give_verdicts(Session& session, const std::vector<std::string>& receipts,
                           const Settle& verdict) {
  FQ_TRY_SET(const std::unique_ptr<Queue> queue, session.open(Session::Policy::last_good));
  bool refused = false;
  std::optional<Exit> unknown;
  for (size_t start = 0; start < receipts.size(); start += kVerdictsPage) {
    const size_t end = std::min(start + kVerdictsPage, receipts.size());
    std::vector<Settle> items(end - start, verdict);
    for (size_t i = start; i < end; ++i) items[i - start].receipt = Receipt{receipts[i]};
    FQ_TRY_SET(const SettleReply reply, queue->settle(items));
    say_notices(*queue);
    for (size_t i = 0; i < reply.items.size(); ++i) {
      refused = say_refusal(receipts[start + i], reply.items[i], reply.error) || refused;
      if (reply.items[i] == SettleStatus::unknown)
        unknown = reply.error ? exit_of(reply.error->kind) : Exit::io;
    }
  }
  if (unknown) return *unknown;
  return refused ? Exit::nothing : Exit::done;
}

Result<std::string> reason_of(const Arguments& arguments) {
  const auto typed = arguments.value("reason");
  if (!typed) return std::string();
  if (!utf8_valid(*typed)) return usage_error("--reason", in_quotes(*typed) + " is not UTF-8");
  return std::string(*typed);
}

}  // namespace fq::cli
