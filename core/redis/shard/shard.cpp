#include "core/redis/shard/shard.h"

// System.
#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>
// fq, below us.
#include "core/api/policy_text.h"
// fq, this room.
#include "core/redis/shard/doubt.h"
#include "core/redis/shard/living_sessions.h"
#include "core/redis/shard/shard_places.h"

namespace fq {

namespace {

constexpr int kTicksMax = 100;  // for schedules that stay due, before a call gives up
// Chosen: of 15 s it may come to the first once, as all are waited for together, and to the second once for
// each server that hangs and is let alone for a while then.
constexpr int64_t kSignMs = 3'000, kSignConnectMs = 1'000;

bool is_schedule_due(const Reply& reply) { return reply.at(0).at(5).number == 1; }
bool is_crossing_due(const Reply& reply) { return reply.at(0).at(6).number == 1; }
bool is_use_to_be_noted(const Reply& reply) { return reply.at(0).at(8).number == 1; }

/// Functions that make one change of many: see calls.lua.
bool is_overdrawn(std::string_view function, const Reply& reply) {
  constexpr std::string_view kOneOfMany[] = {"change", "order", "step", "timetable", "arrange"};
  const auto found = std::find(std::begin(kOneOfMany), std::end(kOneOfMany), function);
  return found != std::end(kOneOfMany) && reply.at(2).number == 1;
}

}  // namespace

std::shared_ptr<ServerLink> link_for_signs(RedisPlace place, const std::string& password) {
  place.connect_ms = std::min(place.connect_ms, kSignConnectMs);
  place.call_ms = std::min(place.call_ms, kSignMs);
  return std::make_shared<ServerLink>(place, password);
}

int64_t Shard::wall_ahead_ms() const {
  if (access_.told_time == nullptr) return 0;
  return access_.told_time->wall_ms() - access_.told_time->boot_ms();
}

/// One key that is always there, unless it is lost, and one that never is: while a cluster moves them, a
/// server refuses the call.
Result<std::string> owner_of(ServerLink& link, const std::string& tag) {
  const std::string root = tag + "h", never = tag + "c";
  const auto asked = [&](const Server&) { return std::vector<std::string_view>{"EXISTS", root, never}; };
  FQ_TRY_SET(ServerLink::Said said, ask_twice(link, [&] { return link.say(root, asked); }));
  if (said.reply.kind == Reply::Kind::error) return error_of_refusal(said.server, "EXISTS", said.reply.text);
  return std::move(said.server);
}

/// `cursor` has the server's name behind a blank: on another one its number says nothing. Whoever is asked
/// for names answers, whether it has the shard or not, so who has it is asked in front and behind.
Result<std::vector<std::string>> Shard::keys(std::string& cursor) {
  const size_t end = cursor.find(' ');
  if (end == std::string::npos) FQ_TRY(owner_of(*access_.link, tag_));
  const std::string number = cursor.substr(0, end);
  const std::string pattern = tag_ + "*";  // prefix and queue have no character that a pattern knows
  const auto scan = [&](const Server&) {
    return std::vector<std::string_view>{"SCAN", number, "MATCH", pattern, "COUNT", "1000"};
  };
  FQ_TRY_SET(const ServerLink::Said said,
             ask_twice(*access_.link, [&] { return access_.link->say(tag_, scan); }));
  const Reply& page = said.reply;
  if (page.kind == Reply::Kind::error) return error_of_refusal(said.server, "SCAN", page.text);
  FQ_TRY_SET(const std::string owner_now, owner_of(*access_.link, tag_));
  if (said.server != owner_now || (end != std::string::npos && cursor.substr(end + 1) != said.server))
    return Error{ErrorKind::later, said.server + ": has taken over the queue's keys meanwhile; try again", 0};
  const std::string& next = page.at(0).text;
  cursor = next == "0" ? next : next + " " + said.server;
  std::vector<std::string> names;
  for (const Reply& key : page.at(1).items) {
    if (key.text.starts_with(tag_)) names.push_back(key.text.substr(tag_.size()));
  }
  return names;
}

/// In a cluster it lies where chance has it: nobody waits for that server, or stands still without it.
Result<std::string> Shard::policy_version() {
  const std::string key = access_.place.key("policy");
  FQ_TRY_SET(const bool is_cluster, access_.link->is_cluster());
  const Result<Reply> told =
      is_cluster ? std::move(access_.link->ask_anew({{"HGET", key, "version"}}).front())
                 : access_.link->call(key, std::array<std::string_view, 3>{"HGET", key, "version"});
  if (told) return told->is_text() ? told->text : kNoPolicyVersion;
  const Error& why = told.error();
  if (!is_cluster || !is_away(why)) return why;
  return Error{ErrorKind::config, "fq.toml: " + without_advice(why.text), why.sys, true};
}

std::string_view Shard::level() const {
  const Result<Level> met = access_.link->level();
  return name_of(met ? *met : access_.place.level.value_or(Level::async));
}

std::string Shard::place() const {
  std::string text = access_.place.socket;
  for (const RedisPlace::Host& host : access_.place.hosts)
    text += host.name + ":" + std::to_string(host.port) + ",";
  return text + "/" + std::to_string(access_.place.database) + "/" + tag_;
}

FunctionCall Shard::function_call(const Call& call) {
  std::vector<std::string> keys = {tag_ + "h", tag_ + "c"};  // see owner_of()
  if (!call.other.empty()) keys.insert(keys.end(), {call.other + "h", call.other + "c"});
  const bool reads_only = call.function == "look";
  const auto words = [this, reads_only, arguments = call.arguments,
                      sessions = living_sessions().all(place(), nonce_) +
                                 (call.hurries ? "!" : "")](const Server& server) {
    std::vector<std::string_view> all;
    server_run_ = server.run_id();
    if (!reads_only) all = {server.run_id(), sessions};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return all;
  };
  return FunctionCall(*access_.library, call.function, std::move(keys), words, call.is_lazy).with_head();
}

/// Where a test tells it.
Result<void> Shard::tell_time() {
  if (access_.told_time == nullptr) return {};
  const std::string root = tag_ + "h", now = std::to_string(access_.told_time->boot_ms());
  const std::string ahead = std::to_string(wall_ahead_ms());
  const std::vector<std::string_view> tell = {"HSET", root, "clock", now, "ahead", ahead};
  FQ_TRY(access_.link->say(root, [&](const Server&) { return tell; }));  // refused: it stands still
  return {};
}

Result<FunctionCall> Shard::prepare(std::string_view function, const std::vector<std::string_view>& arguments,
                                    bool is_lazy) {
  FQ_TRY(tell_time());
  return function_call({function, arguments, Lost::is_unknown, {}, nullptr, {}, is_lazy});
}

Result<Reply> Shard::call_once(const Call& call) {
  const bool is_made = call.first != nullptr && call.first->has_value();
  if (!is_made) FQ_TRY(tell_time());
  return call_function(*access_.link, function_call(call), call.first);
}

/// What is asked for again stays so: of the first try it may be the second that tells.
Result<Reply> Shard::call(Call& call, Doubt& doubt) {
  const auto once = [&] { return call_once(call); };
  if (call.lost == Lost::is_unknown) return once();
  return doubt.ask(once, [&]() -> Result<Reply> {
    if (call.again) {
      FQ_TRY_SET(call.arguments, call.again());
    }
    return once();
  });
}

Result<Reply> Shard::change(std::string_view function, const std::vector<std::string_view>& arguments,
                            Lost lost, FirstTry* first, bool is_lazy) {
  return change({function, arguments, lost, {}, first, {}, is_lazy});
}

Result<Reply> Shard::change(std::string_view function, const std::vector<std::string_view>& arguments,
                            const Again& again, FirstTry* first) {
  return change({function, arguments, Lost::is_repeated, {}, first, again});
}

Result<Reply> Shard::change_once(std::string_view function, const std::vector<std::string_view>& arguments,
                                 FirstTry* first) {
  Call call{function, arguments, Lost::is_repeated, {}, first};
  Doubt doubt(*access_.link);
  Result<void> seen_to;
  Result<Reply> reply = doubt.told(change_now(call, doubt, seen_to));
  if (reply && has_more_due(*reply)) FQ_TRY(std::move(seen_to));
  return reply;
}

Result<Reply> Shard::change_both(const std::string& other, std::string_view function,
                                 const std::vector<std::string_view>& arguments) {
  return change({function, arguments, Lost::is_unknown, other});
}

Result<Reply> Shard::change(Call call) {
  Doubt doubt(*access_.link);
  return doubt.told(change_at_last(call, doubt));
}

/// With the name of its queue. One that is there, but for what its shard begins with, is not told to be gone:
/// what it has is still there.
Error Shard::named(Error error) {
  if (access_.queue.empty()) return error;
  if (says_missing(error)) {
    const Result<bool> is_there = is_of_its_queue();
    if (!is_there) error = is_there.error();
    if (is_there && *is_there) error = lost_root(std::move(error), tag_ + "h", access_.queue);
  }
  return of_queue(std::move(error), access_.queue);
}

std::string Shard::object() const { return "queue '" + access_.queue + "'"; }

/// Another one may have been made since by the same name: its shards lie elsewhere. Where nothing is known by
/// the name its copies tell: a server that has lost a shard may have lost that, too.
Result<bool> Shard::is_of_its_queue() {
  std::vector<std::vector<std::string>> commands;
  const std::array<std::string, 2> copies = copy_places(access_.queue);
  for (const std::string& place : {access_.queue, copies[0], copies[1]})
    commands.push_back({"HGET", access_.place.key("{" + place + "}:meta"), "places"});
  const std::vector<Result<Reply>> told = access_.link->ask_anew(commands);
  const size_t tag_at = tag_.rfind('{') + 1;
  const std::string place = " " + tag_.substr(tag_at, tag_.rfind('}') - tag_at) + " ";
  const auto has_place = [&](const Result<Reply>& each) {
    return each.ok() && (" " + each->text + " ").find(place) != std::string::npos;
  };
  if (told[0] && told[0]->is_text()) return has_place(told[0]);
  if (std::any_of(told.begin(), told.end(), has_place)) return true;
  for (const Result<Reply>& each : told) {
    if (!each) return each.error();
  }
  return false;
}

Result<Reply> Shard::change_now(Call& call, Doubt& doubt, Result<void>& seen_to) {
  Result<Reply> called = call_with_room(call, doubt);
  if (!called && call.other.empty()) return named(std::move(called).error());
  FQ_TRY_SET(Reply reply, std::move(called));
  note_use(reply);
  see_to_crossings(reply);
  seen_to = see_to_schedules(reply);
  return reply;
}

Result<Reply> Shard::change_at_last(Call& call, Doubt& doubt) {
  const int64_t begun_ms = system_clock().boot_ms();
  int64_t waited_ms = 0;
  for (int ticks = 0; ticks < kTicksMax && waited_ms < kDueMsMax;
       waited_ms = system_clock().boot_ms() - begun_ms) {
    call.hurries = waited_ms >= kDueMs && !told_ms();  // a time that is told stands still meanwhile
    Result<void> seen_to;
    FQ_TRY_SET(Reply reply, change_now(call, doubt, seen_to));
    if (!has_more_due(reply)) return reply;  // what was asked for is done, whatever became of them
    FQ_TRY(std::move(seen_to));
    if (is_schedule_due(reply)) ++ticks;
  }
  return Error{ErrorKind::later, "queue: too much is due at once; try again", 0};
}

Result<Reply> Shard::call_with_room(Call& call, Doubt& doubt) {
  for (int times = 1;; ++times) {
    Result<Reply> reply = this->call(call, doubt);
    if (!lender_) return reply;
    if (reply && is_overdrawn(call.function, *reply)) FQ_TRY(lender_->count_anew());
    const std::optional<Lack> lack = reply ? std::nullopt : lack_in(reply.error());
    if (!lack) return reply;
    Result<void> lent = lender_->make_room(*lack, times);
    // Whatever became of a loan: of what was called for nothing was done.
    if (!lent && lent.error().kind == ErrorKind::io)
      return Error{ErrorKind::later, lent.error().text, 0, lent.error().passes};
    FQ_TRY(std::move(lent));
  }
}

/// Not again for the calls that it makes itself.
Result<void> Shard::see_to_schedules(const Reply& reply) {
  if (!is_schedule_due(reply) || !run_schedules_) return {};
  const std::function<Result<void>()> run = std::exchange(run_schedules_, nullptr);
  Result<void> done = run();
  run_schedules_ = run;
  return done;
}

/// Whether there was any. What cannot be done now comes up again by itself.
bool Shard::see_to_crossings(const Reply& reply) {
  if (!is_crossing_due(reply) || !finish_crossings_) return false;
  const std::function<Result<void>()> finish = std::exchange(finish_crossings_, nullptr);
  static_cast<void>(finish());
  finish_crossings_ = finish;
  return true;
}

/// By all that have this library, for all queues of the place; what is lost is made up for an hour later.
void Shard::note_use(const Reply& reply) {
  if (!is_use_to_be_noted(reply)) return;
  const std::string key = access_.place.key("lib"), clock_ms = std::to_string(clock_in(reply));
  const std::vector<std::string_view> note = {"HSET", key, access_.library->name, clock_ms};
  static_cast<void>(access_.link->say(key, [&](const Server&) { return note; }));
}

void Shard::listens_no_more(std::string_view tenant) { static_cast<void>(change("listen", {tenant, "-"})); }

Result<Reply> Shard::tick() { return change("change", {"cancel"}, Lost::is_repeated); }

Result<Reply> Shard::tick_once() { return change_once("change", {"cancel"}); }

Result<Reply> Shard::look(const std::vector<std::string_view>& arguments) {
  std::vector<std::string_view> words;
  const std::string full_count = std::to_string(full_ ? full_->size() : 0);
  if (full_) {
    words = {"as_lent", full_count};
    words.insert(words.end(), full_->begin(), full_->end());
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (int ticks = 0;; ++ticks) {
    const auto ask = [&] { return call_once({"look", words, Lost::is_repeated}); };
    Result<Reply> asked = Doubt(*access_.link).ask(ask, ask);  // it does nothing, so nothing is in doubt
    if (!asked) return named(std::move(asked).error());
    Reply reply = std::move(asked).value();
    note_use(reply);
    if (ticks < kTicksMax && see_to_crossings(reply)) continue;
    const bool is_due = is_schedule_due(reply) && run_schedules_ && ticks < kTicksMax;
    if (is_due && see_to_schedules(reply)) continue;
    const int64_t now_ms = reply.at(0).at(0).number, due_ms = reply.at(0).at(1).number;
    due_in_ms_ = due_ms < 0 ? std::nullopt : std::optional(due_ms - now_ms);
    if (!has_more_due(reply) || ticks == kTicksMax) return reply;
    FQ_TRY(tick());
  }
}

}  // namespace fq
