#include "core/redis/shard/server_link.h"

// System.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <random>
#include <thread>
#include <utility>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/shard/doubt.h"
#include "core/redis/wire/answer.h"
#include "core/redis/wire/flight.h"

namespace fq {

namespace {

constexpr int64_t kNotAtAll = 0;   // a deadline of who waits for nobody
constexpr int kMovesFollowed = 5;  // at once; then with a pause
constexpr int64_t kMoveMs = 50, kPauseMs = 20, kPauseMaxMs = 1'000;

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
  });
}

/// By chance between nothing and that, so that those who wait do not come all at once.
void sleep_at_most(int64_t ms) {
  const auto chosen = static_cast<int64_t>(std::random_device{}() % static_cast<uint64_t>(ms));
  std::this_thread::sleep_for(std::chrono::milliseconds(1 + chosen));
}

int64_t pause_ms(int tries) { return std::min(kPauseMaxMs, kPauseMs << std::min(tries, 6)); }

/// The first key of a command; none: it has no key.
std::optional<std::string_view> key_of(const std::vector<std::string>& command) {
  const size_t at = command[0] == "FCALL" ? 3 : 1;
  return command.size() > at ? std::optional<std::string_view>(command[at]) : std::nullopt;
}

/// What TIME has behind it is the key of a server whose clock it asks for.
std::vector<std::string_view> views_of(const std::vector<std::string>& words) {
  if (words[0] == "TIME") return {words[0]};
  return {words.begin(), words.end()};
}

}  // namespace

bool ServerLink::may_wait(int64_t deadline_ms) {
  const int64_t now_ms = system_clock().boot_ms();
  if (deadline_ms == kNotAtAll || now_ms < impatient_until_ms_) return false;
  if (now_ms < deadline_ms) return true;
  impatient_until_ms_ = now_ms + call_ms_;
  return false;
}

/// It is no master any more, and no other of a cluster is told by it: the connection is given up.
bool ServerLink::leaves(std::string_view refusal, const std::shared_ptr<Server>& server) {
  if (nodes_.is_cluster() || !begins_with_any(refusal, {"MASTERDOWN", "READONLY"})) return false;
  nodes_.drop(server);
  return true;
}

/// All of these say that nothing was done. A key that is being moved is had where it was until it is gone
/// there, and then where it is told to be: what asks for it by halves is never asked.
bool ServerLink::goes_on(std::string_view refusal, const std::shared_ptr<Server>& server, int tries,
                         int64_t deadline_ms) {
  if (begins_with_any(refusal, {"MOVED"})) {
    nodes_.note_moved(refusal, *server);
    if (tries < kMovesFollowed) return true;
    nodes_.forget();
  }
  if (begins_with_any(refusal, {"MOVED", "ASK", "TRYAGAIN"})) {
    if (!may_wait(deadline_ms)) return false;
    sleep_at_most(kMoveMs);
    return true;
  }
  if (leaves(refusal, server)) return tries == 0;  // to where its place leads now, or to another of it
  const bool is_passing =
      begins_with_any(refusal, {"BUSY", "LOADING"}) ||
      (begins_with_any(refusal, {"CLUSTERDOWN", "MASTERDOWN", "READONLY"}) && nodes_.is_cluster());
  if (!is_passing || !may_wait(deadline_ms)) return false;
  nodes_.forget();
  sleep_at_most(pause_ms(tries));
  return true;
}

/// Another server of a cluster may take over from one that cannot be reached.
bool ServerLink::tries_again(const Error& error, int tries, int64_t deadline_ms) {
  const bool is_passing = nodes_.is_cluster() ? error.kind == ErrorKind::later : says_occupied(error);
  if (!is_passing || !may_wait(deadline_ms)) return false;
  nodes_.forget();
  sleep_at_most(pause_ms(tries));
  return true;
}

Result<std::shared_ptr<Server>> ServerLink::met() {
  const int64_t deadline_ms = system_clock().boot_ms() + call_ms_;
  for (int tries = 0;; ++tries) {
    Result<std::shared_ptr<Server>> server = nodes_.any();
    if (server || !tries_again(server.error(), tries, deadline_ms)) return server;
  }
}

/// First it is known where each goes: who finds that out may have to ask a server, too.
std::vector<ServerLink::Try> ServerLink::try_all(std::span<const Call> calls, Copy copy) {
  std::vector<Try> tries;
  for (const Call& call : calls) {
    Result<std::shared_ptr<Server>> server = call.key ? nodes_.of_key(*call.key) : nodes_.any();
    tries.push_back(server ? Try{*server, Reply()} : Try{nullptr, server.error()});
  }
  Flight flight;
  std::vector<size_t> numbers;
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::shared_ptr<Server>& server = tries[i].server;
    numbers.push_back(server ? flight.add(server, calls[i].words(*server)) : 0);
  }
  flight.exchange();
  if (copy != Copy::none) flight.ask_for_copies(copy == Copy::vital);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!tries[i].server) continue;
    tries[i].reply = std::move(flight.reply(numbers[i]));
    tries[i].has_copy = flight.has_copy(numbers[i]);
    const bool refused = tries[i].reply && tries[i].reply->kind == Reply::Kind::error;
    if (refused && begins_with_any(tries[i].reply->text, {"CLUSTERDOWN"})) nodes_.doubt(*tries[i].server);
  }
  for (const std::shared_ptr<Server>& server : flight.lost()) nodes_.drop(server);
  return tries;
}

std::vector<ServerLink::Try> ServerLink::try_each(std::span<const Call> calls, Copy copy) {
  const std::lock_guard held(mutex_);
  return try_all(calls, copy);
}

Result<ServerLink::Said> ServerLink::say_until(const Call& call, Copy copy, int64_t deadline_ms,
                                               std::optional<Try> first) {
  for (int tries = 0;; ++tries) {
    Try made = first && tries == 0 ? std::move(*first) : std::move(try_all({&call, 1}, copy).front());
    if (!made.server && tries_again(made.reply.error(), tries, deadline_ms)) continue;
    if (!made.reply) return std::move(made.reply).error();
    const bool refused = made.reply->kind == Reply::Kind::error;
    if (refused && goes_on(made.reply->text, made.server, tries, deadline_ms)) continue;
    return Said{std::move(made.reply).value(), made.server->name(), refused || made.has_copy};
  }
}

Result<ServerLink::Said> ServerLink::say(std::string_view key, const MakeWords& words, Copy copy,
                                         std::optional<Try>* first) {
  const std::lock_guard held(mutex_);
  const int64_t deadline_ms = system_clock().boot_ms() + call_ms_;
  return say_until({key, words}, copy, deadline_ms,
                   first == nullptr ? std::nullopt : std::exchange(*first, std::nullopt));
}

/// A server that is slow is not asked twice: it would only be slower.
bool ServerLink::was_cut(const Error& error) {
  const std::lock_guard held(mutex_);
  return error.kind == ErrorKind::io && (error.sys != ETIMEDOUT || nodes_.is_cluster());
}

Result<Reply> ServerLink::call(std::string_view key, Words words) {
  const auto same = [&](const Server&) { return std::vector<std::string_view>(words.begin(), words.end()); };
  return ask_twice(*this, [&]() -> Result<Reply> {
    FQ_TRY_SET(Said said, say(key, same));
    if (said.reply.kind == Reply::Kind::error)
      return error_of_refusal(said.server, words[0], said.reply.text);
    return std::move(said.reply);
  });
}

/// What one of them has given away is asked for again, but nobody waits for one that is gone.
std::vector<Result<Reply>> ServerLink::ask(const std::vector<std::vector<std::string>>& commands) {
  std::vector<Call> calls;
  for (const std::vector<std::string>& command : commands)
    calls.push_back({key_of(command), [&command](const Server&) { return views_of(command); }});
  const std::lock_guard held(mutex_);
  std::vector<Try> tries = try_all(calls, Copy::none);
  std::vector<Result<Reply>> replies;
  std::vector<size_t> moved;
  for (size_t i = 0; i < tries.size(); ++i) {
    const bool refused = tries[i].reply && tries[i].reply->kind == Reply::Kind::error;
    const bool is_left = refused && leaves(tries[i].reply->text, tries[i].server);
    if (is_left || (refused && tries[i].reply->text.starts_with("MOVED "))) moved.push_back(i);
    replies.push_back(refused
                          ? error_of_refusal(tries[i].server->name(), commands[i][0], tries[i].reply->text)
                          : std::move(tries[i].reply));
  }
  if (!moved.empty()) nodes_.forget();
  for (const size_t i : moved) {
    Result<Said> said = say_until(calls[i], Copy::none, kNotAtAll);
    if (!said) replies[i] = said.error();
    if (said && said->reply.kind != Reply::Kind::error) replies[i] = std::move(said->reply);
  }
  return replies;
}

std::vector<Result<Reply>> ServerLink::ask_anew(const std::vector<std::vector<std::string>>& commands) {
  std::vector<Result<Reply>> said = ask(commands);
  std::vector<size_t> lost;
  std::vector<std::vector<std::string>> again;
  for (size_t i = 0; i < said.size(); ++i) {
    if (said[i] || said[i].error().sys == ETIMEDOUT || !was_cut(said[i].error())) continue;
    lost.push_back(i);
    again.push_back(commands[i]);
  }
  if (lost.empty()) return said;
  std::vector<Result<Reply>> answers = ask(again);
  for (size_t i = 0; i < lost.size(); ++i) said[lost[i]] = std::move(answers[i]);
  return said;
}

std::vector<Result<Reply>> ServerLink::ask_and_wait(const std::vector<std::vector<std::string>>& commands) {
  std::vector<Result<Reply>> said = ask_anew(commands);
  for (size_t i = 0; i < said.size(); ++i) {
    if (said[i] || said[i].error().kind != ErrorKind::later) continue;
    const std::vector<std::string_view> words = views_of(commands[i]);
    said[i] = call(*key_of(commands[i]), words);
  }
  return said;
}

Result<std::string> ServerLink::scan_page(const std::shared_ptr<Server>& server, const std::string& cursor,
                                          const std::string& pattern, std::vector<std::string>& names) {
  const std::lock_guard held(mutex_);
  Result<Reply> page =
      server->call(std::array<std::string_view, 6>{"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"});
  if (!page) nodes_.drop(server);
  if (!page) return std::move(page).error();
  if (page->kind == Reply::Kind::error) return error_of_refusal(server->name(), "SCAN", page->text);
  for (const Reply& key : page->at(1).items) names.push_back(key.text);
  return page->at(0).text;
}

/// A place in the names of a server holds for as long as it lives, whoever asks.
Result<std::shared_ptr<Server>> ServerLink::connected_anew(const Server& server) {
  FQ_TRY_SET(const std::vector<std::shared_ptr<Server>> all, all_masters());
  for (const std::shared_ptr<Server>& each : all)
    if (each->name() == server.name() && each->run_id() == server.run_id()) return each;
  return Error{ErrorKind::later, server.name() + ": is another server by now; try again", 0};
}

/// No key leads to one that has come since they were asked for last.
Result<std::vector<std::shared_ptr<Server>>> ServerLink::masters_now() {
  nodes_.forget();
  return nodes_.masters();
}

Result<std::vector<std::shared_ptr<Server>>> ServerLink::all_masters() {
  const std::lock_guard held(mutex_);
  return masters_now();
}

Result<void> ServerLink::scan(const std::string& pattern,
                              const std::function<Result<void>(const std::vector<std::string>&)>& visit) {
  FQ_TRY_SET(const std::vector<std::shared_ptr<Server>> all, all_masters());
  for (std::shared_ptr<Server> server : all) {
    std::string cursor = "0";
    do {
      std::vector<std::string> names;
      Result<std::string> next = scan_page(server, cursor, pattern, names);
      if (!next && next.error().sys != ETIMEDOUT && was_cut(next.error())) {
        Result<std::shared_ptr<Server>> again = connected_anew(*server);
        if (again) next = scan_page(server = *std::move(again), cursor, pattern, names);
      }
      FQ_TRY_SET(cursor, std::move(next));
      FQ_TRY(visit(names));
    } while (cursor != "0" && !cursor.empty());
  }
  return {};
}

Result<void> ServerLink::on_each_server(const std::function<Result<void>(Server&)>& run) {
  const std::lock_guard held(mutex_);
  FQ_TRY_SET(const std::vector<std::shared_ptr<Server>> all, masters_now());
  for (const std::shared_ptr<Server>& server : all) FQ_TRY(run(*server));
  return {};
}

Result<void> ServerLink::on_each_there(const std::function<Result<void>(Server&)>& run,
                                       const std::function<void(Error)>& away) {
  const std::lock_guard held(mutex_);
  nodes_.forget();
  return nodes_.visit_masters([&](const Result<std::shared_ptr<Server>>& server) -> Result<void> {
    Result<void> done = server ? run(**server) : Result<void>(server.error());
    if (!done) away(std::move(done).error());
    return {};
  });
}

Result<uint32_t> ServerLink::unserved_slots() {
  const std::lock_guard held(mutex_);
  return nodes_.unserved_slots();
}

Result<Level> ServerLink::level() {
  const std::lock_guard held(mutex_);
  FQ_TRY_SET(const std::shared_ptr<Server> first, met());
  std::optional<Level> lowest;
  static_cast<void>(nodes_.visit_masters([&](const Result<std::shared_ptr<Server>>& server) -> Result<void> {
    if (server) lowest = std::min(lowest.value_or(Level::strict), (*server)->level());
    return {};
  }));
  return lowest.value_or(first->level());  // where nobody tells who is a master
}

Result<RedisPlace> ServerLink::place_of(std::string_view key) {
  const std::lock_guard held(mutex_);
  return nodes_.place_of_key(key);
}

void ServerLink::forget_owners() {
  const std::lock_guard held(mutex_);
  nodes_.forget();
}

void ServerLink::note_moved(std::string_view refusal, const Server& by) {
  const std::lock_guard held(mutex_);
  nodes_.note_moved(refusal, by);
}

Result<bool> ServerLink::is_cluster() {
  const std::lock_guard held(mutex_);
  FQ_TRY(met());
  return nodes_.is_cluster();
}

}  // namespace fq
