#include "core/redis/leases/redis_leases.h"

// System.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
// fq, below us.
#include "core/base/text/decimal.h"
#include "core/base/text/escape.h"
#include "core/api/receipt.h"
// fq, this room.
#include "core/redis/leases/due_wait.h"
#include "core/redis/leases/glance.h"
#include "core/redis/leases/lease_words.h"
#include "core/redis/records/argument_list.h"
#include "core/redis/records/packing.h"
#include "core/redis/waits/bells.h"

namespace fq {

namespace {

constexpr size_t kVerdictsPerCall = 1024;
constexpr size_t kNewsPerCall = 1024;  // NEWS_MOST of the server's program

/// 0: none is told.
double cost_in(const Reply& told) {
  const double cost = std::strtod(told.text.c_str(), nullptr);
  return std::isfinite(cost) && cost > 0 ? cost : 0;
}

}  // namespace

Receipt RedisLeases::receipt_of(uint64_t id, uint64_t serial, std::string_view nonce) const {
  return Receipt(receipt_text(id, serial, mark_ + std::string(nonce)));
}

RedisLeases::Parts RedisLeases::parts_of(const Receipt& receipt) const {
  const std::optional<ReceiptParts> parts = receipt.parts();
  if (!parts) return {SettleStatus::invalid, {}, {}, {}};
  if (parts->mark.substr(0, kMarkLength) != mark_) return {SettleStatus::foreign, {}, {}, {}};
  if (parts->id > kMessageIdMax || parts->serial > kMessageIdMax) return {SettleStatus::gone, {}, {}, {}};
  return {SettleStatus::ok, std::to_string(parts->id), std::to_string(parts->serial),
          std::string(parts->mark.substr(kMarkLength))};
}

/// Of what was taken; a reply does not have those of many.
Result<std::vector<std::string>> RedisLeases::records_of(const Reply& taken) {
  std::vector<std::string> records;
  for (size_t i = 0; i + 3 < taken.items.size(); i += 4) {
    if (taken.items[i + 2].is_text()) records.push_back(taken.items[i + 2].text);
  }
  while (records.size() < taken.items.size() / 4) {
    ArgumentList arguments;
    arguments.borrow("records");
    const size_t end = std::min(taken.items.size() / 4, records.size() + kMessagesPerCall);
    for (size_t i = records.size(); i < end; ++i) arguments.borrow(taken.items[4 * i].text);
    FQ_TRY_SET(const Reply reply, shard_.look(arguments.words()));
    for (size_t i = 0, count = end - records.size(); i < count; ++i)
      records.push_back(reply.at(1).at(i).text);
  }
  return records;
}

Delivery RedisLeases::delivery_of(MessageId id, const MessageRecord& record) const {
  Delivery delivery;
  delivery.receipt = receipt_of(number(id), record.serial, record.nonce);
  delivery.id = id;
  delivery.tenant = record.tenant;
  delivery.attempt = record.attempts + 1;
  delivery.attempts_max = record.attempts_max != 0 ? record.attempts_max : record.attempts_in_force;
  delivery.delivery = record.deliveries;
  delivery.crashes = record.crashes;
  delivery.priority = record.priority;
  delivery.pushed_at_wall_ms = shard_.wall_of(record.pushed_ms);
  delivery.tags = record.tags;
  delivery.command = record.command;
  delivery.timeout_ms = record.timeout_ms;
  delivery.keep_ms = record.keep_ms;
  delivery.call = record.call;
  delivery.schedule = record.schedule;
  delivery.scheduled_at_wall_ms = record.scheduled_wall_ms;
  if (record.timer_ms != 0) delivery.deadline_wall_ms = shard_.wall_of(record.timer_ms);
  delivery.payload = Payload(std::string(record.payload));
  return delivery;
}

/// Where that fails the next call does it: nobody else is given what this session holds.
Result<void> RedisLeases::bury_unfit(LeaseReply& reply) {
  if (unfit_.empty()) return {};
  std::vector<Unfit> unfit = std::exchange(unfit_, {});
  std::vector<Settle> items;
  std::vector<Parts> parts;
  for (const Unfit& each : unfit) {
    Settle& item = items.emplace_back();
    item.receipt = each.receipt;
    item.verdict = Verdict::bury;
    item.reason = each.reason;
    parts.push_back(parts_of(each.receipt));
  }
  LeaseReply nothing;
  Progress none;
  std::vector<SettleStatus> answers;
  Result<void> buried = work(items, parts, nullptr, none, nothing, answers);
  if (!buried) std::move(unfit.begin(), unfit.end(), std::back_inserter(unfit_));
  if (!buried) return buried;
  for (const Unfit& each : unfit) {
    notices_.push_back("message " + std::to_string(number(each.id)) + " of " + shard_.object() +
                       ": was buried and not run: " + each.reason);
    reply.lost.emplace_back(each.id);
  }
  return {};
}

Result<void> RedisLeases::add_deliveries(const Reply& taken, LeaseReply& reply, Progress& progress) {
  FQ_TRY_SET(const std::vector<std::string> records, records_of(taken));
  for (size_t i = 0; i + 3 < taken.items.size(); i += 4) {
    const std::optional<uint64_t> id = parse_decimal(taken.items[i].text);
    const std::optional<uint64_t> serial = parse_decimal(taken.items[i + 1].text);
    if (!id || !serial) return Error{ErrorKind::bad_data, "a delivery: cannot be read", 0};
    const std::optional<MessageRecord> record = read_record(records[i / 4]);
    std::string fault(kUnreadable);
    if (record) {
      FQ_TRY_SET(fault, check_.fault(*record));
    }
    session_.holdings().note_lease(*id, *serial, progress.by_living);  // from here on it is known of
    if (!fault.empty()) {
      unfit_.push_back({MessageId{*id}, receipt_of(*id, *serial, session_.nonce()), std::move(fault)});
      continue;
    }
    reply.deliveries.push_back(delivery_of(MessageId{*id}, *record));
    progress.bytes_left -= std::min<uint64_t>(progress.bytes_left, record->payload.size());
  }
  return bury_unfit(reply);
}

/// What the server's program has passed over: ids, and names of tenants whose list of what is ready is gone.
void RedisLeases::note_lost(const Reply& lost, LeaseReply& reply) {
  for (const Reply& each : lost.items) {
    const std::optional<uint64_t> id = parse_decimal(each.text);
    const std::string what =
        each.items.empty() ? "message " + each.text : "tenant " + in_quotes(each.items[0].text);
    notices_.push_back(what + " of " + shard_.object() +
                       (each.items.empty()
                            ? ": its record is lost; it was passed over, see fq check"
                            : ": which of its messages are ready is lost; see fq check --repair"));
    reply.lost.push_back(each.items.empty() && id ? std::optional(MessageId{*id}) : std::nullopt);
  }
}

/// `now_ms`: the shard's, of the same answer. By that of this machine what is left would be another time.
Result<void> RedisLeases::add_news(const Reply& news, int64_t now_ms, LeaseReply& reply) {
  using What = LeaseChange::What;
  constexpr What kWhats[] = {What::ended, What::cancelled, What::extended};
  for (const Reply& each : news.items) {
    Unpacker bytes(each.text);
    const auto id = static_cast<uint64_t>(bytes.whole()), serial = static_cast<uint64_t>(bytes.whole());
    const int64_t until_ms = bytes.whole();
    const auto what = bytes.number<uint8_t>();
    if (!bytes.ok() || !bytes.rest().empty() || what >= std::size(kWhats))
      return Error{ErrorKind::bad_data, "news of a lease: cannot be read", 0};
    const bool is_extended = kWhats[what] == What::extended;
    if (!is_extended) session_.holdings().end_lease(id, serial, shard_.server_run());
    reply.changes.push_back({receipt_of(id, serial, session_.nonce()), kWhats[what],
                             is_extended ? std::max<int64_t>(0, until_ms - now_ms) : 0});
    heard_news_ = each.text;
  }
  reply.more_changes = reply.more_changes || news.items.size() >= kNewsPerCall;
  return {};
}

std::vector<RedisLeases::Parts> RedisLeases::parts_of(std::span<const Settle> items) const {
  std::vector<Parts> parts;
  for (const Settle& item : items) parts.push_back(parts_of(item.receipt));
  return parts;
}

void RedisLeases::note_over(const Receipt& receipt) {
  const std::optional<ReceiptParts> parts = receipt.parts();
  if (parts) session_.holdings().end_lease(parts->id, parts->serial, shard_.server_run());
}

Result<ArgumentList> RedisLeases::arguments_of(std::span<const Settle> items, std::span<const Parts> parts,
                                               std::string wanted, std::string_view tenant) {
  ArgumentList arguments;
  arguments.add(std::move(wanted));
  arguments.borrow(tenant);
  const auto is_sent = [](const Parts& each) { return each.fault == SettleStatus::ok; };
  arguments.add(std::to_string(std::count_if(parts.begin(), parts.end(), is_sent)));
  for (size_t i = 0; i < items.size(); ++i) {
    if (!is_sent(parts[i])) continue;
    for (const std::string* const word : {&parts[i].id, &parts[i].serial, &parts[i].nonce})
      arguments.add(*word);
    Packer verdict;
    verdict.number(static_cast<uint8_t>(items[i].verdict))
        .number(static_cast<double>(items[i].delay_ms))
        .number(items[i].run_us ? static_cast<double>(*items[i].run_us) : -1.0);
    arguments.add(verdict.bytes());
    arguments.add(failure_bytes(items[i]));
    FQ_TRY_SET(std::string output, output_bytes(items[i].output));
    arguments.add(std::move(output));
  }
  arguments.add(extension(0, 0));
  return arguments;
}

Result<RedisLeases::Sent> RedisLeases::add_to(CallsAtOnce& calls, std::span<const Settle> items) {
  items = items.first(std::min(items.size(), kVerdictsPerCall));
  Progress nothing;
  const unsigned bell = bell_word(nothing);
  std::string wanted = bytes_wanted(nullptr, 0, 0, true, is_unheard_ ? kLeasesAgain : 0, heard(), bell);
  FQ_TRY_SET(ArgumentList arguments, arguments_of(items, parts_of(items), std::move(wanted), {}));
  return Sent{calls, calls.add(shard_, "work", std::move(arguments)), bell};
}

/// The call strikes out what the server has noted down, and may note it anew.
unsigned RedisLeases::bell_word(const Progress& progress) {
  Bells* const bells = shard_.bells();
  if (bells == nullptr) return 0;
  const std::string bell = shard_.bell();
  const bool has_rung = bells->take_rung(bell);
  bells->strike_out(bell);
  return (progress.listens ? kListens : 0) + (has_rung ? kRung : 0);
}

/// Where the answer is lost it is asked once more, and told so. What it gave comes back with the next one.
Result<void> RedisLeases::work(std::span<const Settle> items, std::span<const Parts> parts,
                               const LeaseRequest* next, Progress& progress, LeaseReply& reply,
                               std::vector<SettleStatus>& answers, const Sent* sent) {
  if (next != nullptr) FQ_TRY(check_.may_lease(*next));
  const size_t want = std::min(progress.want, kMessagesPerCall);
  const unsigned bell = sent != nullptr ? sent->bell : bell_word(progress);
  ArgumentList arguments;
  const auto words = [&](unsigned again) -> Result<Words> {
    std::string wanted =
        bytes_wanted(next, want, progress.bytes_left, reply.deliveries.empty(), again, heard(), bell);
    FQ_TRY_SET(arguments, arguments_of(items, parts, wanted.append(progress.loans),
                                       next == nullptr ? std::string_view() : next->tenant));
    return Words(arguments.words());
  };
  const auto words_again = [&] {
    is_unheard_ = true;
    return words(kVerdictsAgain | kLeasesAgain);
  };
  const auto ask = [&]() -> Result<Reply> {
    if (sent != nullptr) return sent->calls.answer(sent->call, words_again);
    FQ_TRY(words(is_unheard_ ? kLeasesAgain : 0));
    return shard_.change("work", arguments.words(), words_again);
  };
  Result<Reply> asked = ask();
  progress.is_answered = asked.ok();
  is_unheard_ = !asked && (is_unheard_ || asked.error().kind == ErrorKind::io);
  if (!asked) return std::move(asked).error();
  const Reply answer = std::move(asked).value();
  lent_ = answer.at(7).text;
  for (const Reply& each : answer.at(1).items) answers.push_back(status_of(each));
  for (const Settle& item : items) note_over(item.receipt);
  progress.by_living = next != nullptr && next->hold == Hold::process;
  // In the place of what is buried or passed over others come.
  const size_t taken = answer.at(3).items.size() / 4;
  if ((next != nullptr && next->watch) || (taken > 0 && progress.by_living)) session_.keep_alive();
  const size_t before = reply.deliveries.size();
  if (Result<void> added = add_deliveries(answer.at(3), reply, progress); !added) {
    is_unheard_ = true;  // of those that were not read
    return added;
  }
  const size_t given = reply.deliveries.size() - before;
  progress.want -= std::min(progress.want, given);
  const double cost = cost_in(answer.at(8));
  progress.paid.cost += cost;
  progress.paid.untold += cost > 0 ? 0 : given;
  note_lost(answer.at(9), reply);
  const int64_t now_ms = answer.at(0).at(0).number, due_ms = answer.at(0).at(1).number;
  FQ_TRY(add_news(answer.at(6), now_ms, reply));
  if ((bell & kListens) != 0 && taken == 0) shard_.bells()->note(shard_.bell());
  progress.is_full = taken >= kMessagesPerCall || given < taken || !answer.at(9).items.empty();
  progress.is_behind = is_behind(answer);
  progress.servable = answer.at(4).number == 1;
  progress.is_idle = answer.at(5).number == 1;
  reply.next_wake_ms = due_ms < 0 ? std::nullopt : std::optional(due_ms - now_ms);
  return {};
}

/// Call after call. What one has given is not lost where the next one fails.
Result<void> RedisLeases::take_on(const LeaseRequest& request, Progress& progress, LeaseReply& reply) {
  std::vector<SettleStatus> none;
  const size_t before = reply.deliveries.size();
  do {
    Result<void> worked = work({}, {}, &request, progress, reply, none);
    if (!worked && reply.deliveries.size() == before) return worked;
    progress.is_full = progress.is_full && worked.ok();
  } while (progress.wants_more());
  return {};
}

void RedisLeases::describe(const LeaseRequest& request, const Progress& progress, LeaseReply& reply) {
  reply.why_empty = reply.deliveries.empty() ? WhyEmpty::nothing : WhyEmpty::none;
  if (reply.deliveries.empty() && request.wait && request.until_idle && progress.is_idle)
    reply.why_empty = WhyEmpty::idle;
  // What was buried is told at once, too.
  const bool has_news = !reply.changes.empty() || (request.watch && !reply.lost.empty());
  if (reply.deliveries.empty() && has_news) reply.why_empty = WhyEmpty::changed;
  if (request.watch) reply.more = progress.servable;
  if (request.look && progress.servable) reply.why_empty = WhyEmpty::servable;
}

Result<RedisLeases::Added> RedisLeases::add(const LeaseRequest& request, size_t want, uint64_t& bytes_left,
                                            LeaseReply& reply, std::string_view loans, bool listens) {
  const size_t before = reply.deliveries.size();
  Progress progress{want, bytes_left};
  progress.loans = loans;
  progress.listens = listens;
  FQ_TRY(bury_unfit(reply));
  FQ_TRY(take_on(request, progress, reply));
  bytes_left = progress.bytes_left;
  return Added{reply.deliveries.size() - before, progress.servable, progress.is_idle, progress.paid};
}

Result<LeaseReply> RedisLeases::lease(const LeaseRequest& request) {
  Bells* const bells = shard_.bells();
  const std::vector<std::string> bell = {shard_.bell()};
  Progress progress;
  const auto look_once = [&](bool hears) -> Result<LeaseReply> {
    LeaseReply reply;
    progress = {request.look ? 0 : request.want, request.bytes_max};
    progress.listens = hears && takes(request);
    FQ_TRY(bury_unfit(reply));
    FQ_TRY(take_on(request, progress, reply));
    describe(request, progress, reply);
    return reply;
  };
  const DueWait due_wait(request);
  Waiting waiting(request.wait_ms, request.interrupt, request.signals);
  Glance glance(shard_, request);
  for (;;) {
    const bool hears = request.wait && bells != nullptr && bells->hears(bell[0]);
    Result<LeaseReply> looked = look_once(hears);
    if (!looked) hear_again();
    FQ_TRY_SET(LeaseReply reply, std::move(looked));
    if (progress.is_behind && due_wait.goes_on(reply, waiting)) continue;
    if (!request.wait || reply.why_empty != WhyEmpty::nothing) return reply;
    // What came before it was heard is found by one more look.
    const bool is_heard = !hears && bells != nullptr && !waiting.is_over() && bells->listen(bell);
    if (is_heard && waiting.looks_at_once()) continue;
    const bool is_over = waiting.is_over();
    const Awaiting::State idle = request.until_idle && hears && !is_over
                                     ? awaiting_.listen(shard_, {.what = Awaited::What::idle})
                                     : Awaiting::State::heard;
    if (idle == Awaiting::State::anew && waiting.looks_at_once()) continue;
    const Waiting::End end = hears && idle == Awaiting::State::heard
                                 ? glance.sleep(waiting, reply.next_wake_ms)
                                 : waiting.sleep(reply.next_wake_ms);
    if (end == Waiting::End::timed_out) reply.why_empty = WhyEmpty::timed_out;
    if (end == Waiting::End::interrupted) reply.why_empty = WhyEmpty::interrupted;
    if (end == Waiting::End::goes_on) continue;
    // A worker comes again, and takes what it was told of meanwhile.
    if (hears && takes(request) && !request.watch) shard_.listens_no_more(request.tenant);
    return reply;
  }
}

Result<SettleReply> RedisLeases::settle(std::span<const Settle> items, const LeaseRequest* next,
                                        const std::optional<Sent>& sent) {
  const std::vector<Parts> parts = parts_of(items);
  SettleReply reply;
  if (next != nullptr) reply.next.emplace();
  LeaseReply none;
  const bool takes_next = next != nullptr && !next->wait && !next->look;  // in the same call
  Progress progress{0, next == nullptr ? 0 : next->bytes_max};
  for (size_t from = 0; from < items.size(); from += kVerdictsPerCall) {
    const size_t count = std::min(kVerdictsPerCall, items.size() - from);
    if (takes_next && from + count == items.size()) progress.want = next->want;
    std::vector<SettleStatus> answers;
    const Result<void> worked =
        work(items.subspan(from, count), std::span(parts).subspan(from, count), next, progress,
             next != nullptr ? *reply.next : none, answers, sent && from == 0 ? &*sent : nullptr);
    // Of the first piece it says that nothing was done; of a later one that is true of that alone; and of one
    // that is answered what was leased behind it is not lost where a part of that cannot be looked at.
    const bool is_done = progress.is_answered, has_next = reply.next && !reply.next->deliveries.empty();
    if (!worked && !is_done && worked.error().kind != ErrorKind::io && from == 0) return worked.error();
    if (!worked && !(is_done && has_next)) reply.error = worked.error();
    size_t answered = 0;
    for (size_t i = from; i < from + count; ++i) {
      const bool was_sent = parts[i].fault == SettleStatus::ok;
      const SettleStatus said = answered < answers.size() ? answers[answered] : SettleStatus::unknown;
      reply.items.push_back(was_sent ? said : parts[i].fault);
      answered += was_sent ? 1U : 0U;
    }
  }
  if (next == nullptr || reply.error) return reply;
  const bool is_left = progress.is_behind && reply.next->deliveries.empty();
  if (!takes_next || items.empty() || is_left) return lease_behind(std::move(reply), lease(*next));
  // What the call of the verdicts gave is not lost, either.
  if (progress.wants_more()) static_cast<void>(take_on(*next, progress, *reply.next));
  describe(*next, progress, *reply.next);
  return reply;
}

}  // namespace fq
