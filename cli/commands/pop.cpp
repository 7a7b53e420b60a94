// pop - takes messages in fair order and writes them; then acks them, or with --lease leaves them leased.
//
// Never the ack first: a message is acked only after all of its page was written. When writing fails, what
// is held goes back and does not count as an attempt.

// System.
#include <algorithm>
// fq, below us.
#include "core/base/text/escape.h"
// fq, this room.
#include "cli/words/command.h"
#include "cli/views/delivery_writer.h"
#include "cli/session/filter.h"
#include "cli/session/patience.h"
#include "cli/session/session.h"
#include "cli/terminal/signals.h"
#include "cli/words/values.h"

namespace fq::cli {

namespace {

constexpr OptionSpec kPopOptions[] = {
    {"What", 't', "tenant", Takes::value, "TENANT", "only of this tenant and below (default: any)"},
    {"What", 'n', "count", Takes::value, "N", "at most N (default: 1)"},
    {"What", 0, "wait", Takes::attached, "DUR", "wait until one can be served (default: do not wait)"},
    {"What", 0, "grouped", Takes::nothing, "", "the messages of one tenant that have gathered"},
    {"What", 0, "max", Takes::value, "N", "with --grouped: whole groups until there are N"},
    {"What", 0, "lease", Takes::optional, "DUR", "lease instead of acking (default: lease in fq.toml)"},
    {"Output", '0', "null", Takes::nothing, "", "exact payload bytes, each ended by NUL"},
};

// Of one turn; more are taken in several, so that a large -n needs little memory.
constexpr uint64_t kPageMessages = 1024;
constexpr uint64_t kPageBytes = 8 * 1024 * 1024;
constexpr uint64_t kGroupBytes = 32 * 1024 * 1024;  // a group is in memory at once, and is cut behind these

struct PopRequest {
  LeaseRequest lease;
  std::string tenant;
  uint64_t count = 1;
  bool keep = false;  // --lease
  DeliveryForm form = DeliveryForm::human;
};

Result<DeliveryForm> form_of(const Arguments& arguments, Format format) {
  if (arguments.has("null")) {
    if (format != Format::human && format != Format::raw)
      return usage_error("--null", "does not go with --format; give one of them");
    return DeliveryForm::null;
  }
  switch (format) {
    case Format::json:
      return DeliveryForm::json;
    case Format::sh:
      return DeliveryForm::sh;
    case Format::raw:
      return DeliveryForm::raw;
    default:
      return DeliveryForm::human;
  }
}

Result<void> read_lease(const Arguments& arguments, PopRequest& request) {
  if (!arguments.has("lease")) return {};
  request.keep = true;
  request.lease.hold = Hold::duration;
  if (const auto typed = arguments.value("lease")) {
    FQ_TRY_SET(request.lease.hold_ms, to_positive_duration("--lease", *typed));
  }
  if (request.form == DeliveryForm::raw || request.form == DeliveryForm::null) {
    return usage_error("--lease",
                       "its receipts are not shown by --raw and --null; use --json, --format sh or neither");
  }
  return {};
}

Result<void> read_groups(const Arguments& arguments, PopRequest& request) {
  request.lease.grouped = arguments.has("grouped");
  if (!request.lease.grouped) {
    if (arguments.has("max")) return usage_error("--max", "needs --grouped; without it use -n");
    return {};
  }
  if (arguments.has("count")) return usage_error("-n", "does not go with --grouped; use --max");
  if (request.form == DeliveryForm::sh) {
    return usage_error("--grouped", "does not go with --format sh, which is for one message; use --json");
  }
  if (const auto typed = arguments.value("max")) {
    FQ_TRY_SET(request.count, to_count("--max", *typed, UINT32_MAX));
  }
  return {};
}

Result<PopRequest> pop_request(const Arguments& arguments, Format format) {
  PopRequest request;
  if (!arguments.operands().empty()) {
    return usage_error(
        "pop", "takes no operand " + in_quotes(arguments.operands()[0]) + "; the time to wait is --wait=DUR");
  }
  FQ_TRY_SET(request.form, form_of(arguments, format));
  if (const auto typed = arguments.value("tenant")) {
    FQ_TRY_SET(request.tenant, to_tenant("--tenant", *typed));
  }
  if (const auto typed = arguments.value("count")) {
    FQ_TRY_SET(request.count, to_count("-n", *typed, UINT32_MAX));
  }
  FQ_TRY(read_groups(arguments, request));
  if (request.form == DeliveryForm::sh && request.count > 1)
    return usage_error("-n", "--format sh is for one message");
  request.lease.wait = arguments.has("wait");
  request.lease.runs_commands = false;
  if (const auto typed = arguments.value("wait")) {
    FQ_TRY_SET(request.lease.wait_ms, to_duration_or("unlimited", "--wait", *typed));
  }
  FQ_TRY(read_lease(arguments, request));
  return request;
}

Error refused(const Session& session, const Delivery& delivery, SettleStatus status,
              const std::optional<Error>& why) {
  if (why && status == SettleStatus::unknown) return *why;
  const std::string what = status == SettleStatus::unknown
                               ? "whether it was acked is unknown"
                               : "was written, but its lease had ended before the ack";
  return Error{
      ErrorKind::io,
      "queue '" + session.queue_name() + "': message " + std::to_string(number(delivery.id)) + ": " + what,
      0};
}

/// Takes page after page.
class Popping {
 public:
  Popping(Session& session, Queue& queue, PopRequest& request)
      : session_(session),
        queue_(queue),
        request_(request),
        writer_(session, queue, request.form, request.keep) {}

  Result<Exit> run() {
    const bool waits = request_.lease.wait;
    // Where all that there was has been cancelled meanwhile, it is as if it had not been there.
    while (taken_ == 0) {
      limit(left_);
      request_.lease.wait = waits;
      FQ_TRY_SET(LeaseReply page, told(waits ? lease_at_last() : queue_.lease(request_.lease)));
      if (page.deliveries.empty()) return nothing(page);
      request_.lease.wait = false;
      while (!page.deliveries.empty()) {
        FQ_TRY(write(page));
        FQ_TRY_SET(page, told(settle(page)));
      }
    }
    return Exit::done;
  }

 private:
  /// Nothing is held yet, so nothing is lost where the server is away meanwhile.
  Result<LeaseReply> lease_at_last() {
    Result<LeaseReply> page = patience_.ask([&] {
      request_.lease.wait_ms = patience_.left_ms();
      return queue_.lease(request_.lease);
    });
    if (!page) die_by_caught_signal();
    return page;
  }

  void limit(uint64_t left) {
    request_.lease.want = static_cast<size_t>(std::min(left, kPageMessages));
    request_.lease.bytes_max = request_.lease.grouped ? kGroupBytes : kPageBytes;
  }

  /// With what was met on the way to it said: messages that were buried since their payload is lost.
  Result<LeaseReply> told(Result<LeaseReply> page) {
    say_notices(queue_);
    return page;
  }

  static Exit nothing(const LeaseReply& page) {
    if (page.why_empty == WhyEmpty::interrupted) die_by_caught_signal();
    if (page.why_empty == WhyEmpty::timed_out) return Exit::later;
    return !page.lost.empty() ? Exit::bad_data : Exit::nothing;
  }

  /// Writes a page; what cannot be written goes back.
  Result<void> write(const LeaseReply& page) {
    Result<void> written;
    for (const Delivery& delivery : page.deliveries) {
      written = writer_.write(delivery);
      if (!written) break;
    }
    if (written) written = session_.out().flush();
    if (!written) give_back(page);
    if (written && request_.form != DeliveryForm::json) say_commands(page);
    return written;
  }

  /// Of a command only what it would read is written, most often nothing.
  static void say_commands(const LeaseReply& page) {
    const auto is_command = [](const Delivery& each) { return each.command.has_value(); };
    const auto first = std::find_if(page.deliveries.begin(), page.deliveries.end(), is_command);
    if (first == page.deliveries.end()) return;
    const auto more = std::count_if(first + 1, page.deliveries.end(), is_command);
    say("message " + std::to_string(number(first->id)) +
        (more == 0 ? ": is a command" : " and " + std::to_string(more) + " more: are commands") +
        ", to be run by fq worker; --json tells which");
  }

  void give_back(const LeaseReply& page) {
    std::vector<Settle> items;
    for (const Delivery& delivery : page.deliveries) items.push_back(verdict(delivery, Verdict::release));
    // It is on its way out with an error already; a second one would only hide that. Without the
    // release the life lock gives them back all the same, but as a crash.
    const Result<SettleReply> ignored = queue_.settle(items);
    static_cast<void>(ignored);
  }

  static Settle verdict(const Delivery& delivery, Verdict verdict) {
    Settle item;
    item.receipt = delivery.receipt;
    item.verdict = verdict;
    return item;
  }

  /// Acks a page, and takes the next one in the same turn.
  Result<LeaseReply> settle(const LeaseReply& page) {
    const uint64_t left = left_ - std::min<uint64_t>(left_, page.deliveries.size());
    limit(left);
    if (request_.keep) {
      count(page.deliveries.size());
      if (left == 0) return LeaseReply{};
      return rest(queue_.lease(request_.lease));
    }
    std::vector<Settle> items;
    for (const Delivery& delivery : page.deliveries) items.push_back(verdict(delivery, Verdict::ack));
    FQ_TRY_SET(SettleReply reply, queue_.settle(items, left > 0 ? &request_.lease : nullptr));
    size_t acked = 0;
    for (size_t i = 0; i < reply.items.size(); ++i) {
      if (reply.items[i] == SettleStatus::ok) ++acked;
      if (reply.items[i] == SettleStatus::ok || reply.items[i] == SettleStatus::gone) continue;
      if (reply.next && !reply.next->deliveries.empty()) give_back(*reply.next);
      return refused(session_, page.deliveries[i], reply.items[i], reply.error);
    }
    count(acked);
    if (reply.error) return rest(*std::move(reply.error));
    if (left > 0 || left_ == 0) return std::move(reply.next).value_or(LeaseReply{});
    // Some were cancelled meanwhile: others take their places.
    limit(left_);
    return rest(queue_.lease(request_.lease));
  }

  /// What is taken stays taken, whatever became of the rest: that is said, and is no failure.
  Result<LeaseReply> rest(Result<LeaseReply> page) const {
    if (page || taken_ == 0) return page;
    say(page.error().text);
    return LeaseReply{};
  }

  void count(size_t taken) {
    taken_ += taken;
    left_ -= std::min<uint64_t>(left_, taken);
  }

  Session& session_;
  Queue& queue_;
  PopRequest& request_;
  DeliveryWriter writer_;
  Patience patience_{request_.lease.wait_ms, request_.lease.interrupt};
  uint64_t left_ = request_.count;
  uint64_t taken_ = 0;
};

Result<Exit> run_pop(const Arguments& arguments, Session& session) {
  FQ_TRY_SET(PopRequest request, pop_request(arguments, session.format()));
  request.lease.tenant = request.tenant;
  // A pattern is refused where no tenant has that name, and a new queue has none.
  const bool makes = request.lease.wait && request.tenant.find('*') == std::string::npos;
  FQ_TRY_SET(const std::unique_ptr<Queue> queue,
             session.open(Session::Policy::last_good,
                          makes ? Session::Missing::is_made_and_said : Session::Missing::is_refused));
  FQ_TRY(refuse_pattern(*queue, request.tenant));
  request.lease.interrupt = &catch_signals();
  return Popping(session, *queue, request).run();
}

}  // namespace

const Command pop_command = {
    "pop",
    "take messages in fair order",
    "[-t TENANT] [-n N | --grouped] [--wait[=DUR]] [--lease [DUR]]",
    "Takes messages in fair order, writes their payloads and acks them.",
    {kPopOptions, &kQueueOption, "human|json|sh|raw"},
    "while m=$(fq pop); do echo \"$m\"; done",
    "0 taken; 1 nothing can be served now; 65 damaged; 75 timed out",
    run_pop,
};

}  // namespace fq::cli
