// full shard - a shard on a cluster that has some of all that a queue keeps, and what clients ask of it.
//
// A second queue has as many shards, so that messages move between the two in one call, and a third one has
// others. All is of the account "a", and so of one shard of each. Nothing of it has its end within a test,
// and no client lives on: what changes is changed by the test.
#pragma once

// System.
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>
// fq, below us.
#include "core/redis/wire/slots.h"
// Tests.
#include "tests/redis/on_cluster.h"

namespace fq::test {

class FullShard {
 public:
  /// `before_first_call`: once its queues are there.
  explicit FullShard(const std::function<void()>& before_first_call = [] {}) {
    before_first_call();
    for (const auto& [name, shards] : {std::pair("other", 4U), std::pair("wide", 8U)})
      answered(real_time_engine().create({s.location.spool, name}, {.shards = shards}));
    queue = s.another();
    set_rules();
    fill_with_states();
    fill_with_jobs();
    fill_with_schedules();
    do_what_is_rare();
    leave_one_by_living();
    queue.reset();
  }
  ~FullShard() {
    for (const char* const name : {"other", "wide"})
      static_cast<void>(real_time_engine().remove({s.location.spool, name}));
  }
  FullShard(const FullShard&) = delete;
  FullShard& operator=(const FullShard&) = delete;

  struct Asked {
    const char* what;
    /// Why nothing was done; none: something was.
    std::function<std::optional<Error>(Queue&)> refusal;
  };
  /// What clients ask for, each of which this shard alone can answer.
  std::vector<Asked> all_that_is_asked() const;
  std::string tag() const { return s.tag_of_id(ready); }
  std::unique_ptr<Queue> opened(const std::string& name, const std::string& options = {}) const {
    return answered(real_time_engine().open({s.location.spool + options, name}, {}));
  }

  OnCluster s{4};
  std::unique_ptr<Queue> queue;
  MessageId ready{}, doomed{}, dead{}, delayed{}, of_output{};
  Receipt held{}, stepping{};

 private:
  using Change = std::function<void(NewMessage&)>;
  MessageId push(
      std::string_view tenant, const Change& change = [](NewMessage&) {}) {
    NewMessage message = message_for(tenant);
    message.tags = {{"color", "red"}};
    change(message);
    return answered(queue->push({&message, 1})).items.at(0).id;
  }
  Delivery take(std::string_view tenant) {
    LeaseRequest request = for_a_minute();
    request.hold_ms = 3'600'000;
    request.tenant = tenant;
    LeaseReply reply = answered(queue->lease(request));
    REQUIRE(reply.deliveries.size() == 1);
    return std::move(reply.deliveries[0]);
  }
  void settle(const Settle& verdict) { answered(queue->settle({&verdict, 1})); }
  void give(std::string_view path, PolicyKey key, int64_t number, int64_t second = 0,
            const std::string& text = {}) {
    answered(queue->policy_set(path, {{{key, number, second, text}}, {}}));
  }

  void set_rules() {
    const PolicyValue many{PolicyKey::concurrency, 40, 0, {}};
    answered(queue->policy_load({{{PolicyKey::attempts, 4, 0, {}}}, {}, {{"p", {many}}}}, {.inode = 1}));
    const std::string version = answered(real_time_engine().policy_text(s.location.spool)).version;
    answered(real_time_engine().keep_policy_text(s.location.spool, "# of all\n", version));
    give("", PolicyKey::retention, 3'600'000);
    give("", PolicyKey::max_messages, 1'000);
    give("", PolicyKey::concurrency, 50);
    give("a", PolicyKey::concurrency, 30);
    give("a", PolicyKey::rate, 1'000'000, 1'000);
    give("a/pooled", PolicyKey::pool, 0, 0, "p");
    give("a/stopped", PolicyKey::paused, 1);
  }
  void fill_with_states() {
    ready = push("a/ready");
    doomed = push("a/ready", [](NewMessage& m) { m.unique = "doomed"; });
    push("a/stopped");
    push("a/pooled");
    push("a/ranked", [](NewMessage& m) { m.priority = 3; });
    push("a/bounced", [](NewMessage& m) { m.debounce = "key", m.quiet_ms = 3'600'000; });
    push("a/mortal", [](NewMessage& m) { m.ttl_ms = 3'600'000; });
    push("a/own", [](NewMessage& m) { m.attempts_max = 2, m.timeout_ms = 5'000; });
    delayed = push("a/delayed", [](NewMessage& m) { m.delay_ms = 3'600'000; });
    push("a/after", [this](NewMessage& m) { m.after = {ready, delayed}; });
    const auto one = [](NewMessage& m) { m.unique = "one", m.unique_mode = UniqueMode::after; };
    push("a/behind", one);
    take("a/behind");
    push("a/behind", one);
    dead = push("a/dead");
    Settle verdict;
    verdict.verdict = Verdict::bury;
    verdict.receipt = take("a/dead").receipt;
    settle(verdict);
    const MessageId cancelled = push("a/cancelled");
    answered(queue->mutate({&cancelled, 1}, Action::cancel));
    push("a/moved");
    push("a/apart");
    for (const auto& [tenant, to] : {std::pair("a/moved", "other"), std::pair("a/apart", "wide")}) {
      const MessageId id = answered(queue->peek({tenant, {}, {}}, {}, 1)).messages.at(0).id;
      CHECK(answered(queue->move({&id, 1}, {to, {}})).items.at(0).what == MoveResult::What::moved);
    }
    const ExportedMessage told = answered(queue->exported(ready)).value();
    answered(opened("other")->import_messages({&told, 1}, "elsewhere"));
  }
  void fill_with_jobs() {
    push("a/held");
    held = take("a/held").receipt;
    of_output = push("a/done", [](NewMessage& m) { m.keep_ms = 3'600'000; });
    Settle verdict;
    JobOutput output;
    output.out = "what it wrote", output.keep_ms = 3'600'000;
    verdict.receipt = take("a/done").receipt, verdict.output = &output;
    settle(verdict);
    const CallId call = answered(queue->begin_call("a"));
    push("a/called", [&](NewMessage& m) { m.call = call; });
    const auto run = answered(queue->run_output(take("a/called"), {100, true}));
    REQUIRE(run->open().ok());
    run->write(Channel::out, "some");
    run->close();
    push("a/steps");
    stepping = take("a/steps").receipt;
    Steps& steps = *queue->steps();
    answered(steps.begin(stepping, "kept", nullptr));
    answered(steps.keep(stepping, "kept", as_bytes("what it has come to")));
    answered(steps.push(stepping, "child", message_for("a/child")));
    answered(steps.begin(stepping, "open", nullptr));
    push("a/sleeps");
    answered(steps.sleep(take("a/sleeps").receipt, "nap", 3'600'000, 0));
    LeaseRequest waits = for_a_minute();
    waits.tenant = "a/nobody", waits.wait = true, waits.wait_ms = 20;
    answered(queue->lease(waits));
    answered(queue->await_end({.ids = {&delayed, 1}, .wait_ms = 20}));
  }
  void fill_with_schedules() {
    ScheduleDefinition later;
    later.name = "later", later.spec = "every 1h", later.message = message_for("a/times");
    answered(queue->schedules()->set(later));
    answered(queue->schedules()->run("later"));
  }
  void do_what_is_rare() {
    answered(queue->check({.repair = true}));
    real_time_engine().examine(s.location.spool, {});
    // Queues of one shard that lie in one slot, between which a message goes in one call.
    const auto [from, to] = two_beside();
    for (const std::string& name : {from, to})
      answered(real_time_engine().create({s.location.spool, name}, {.shards = 1}));
    {
      const auto one = opened(from);
      const MessageId id = push_one(*one, "a", "x");
      CHECK(answered(one->move({&id, 1}, {to, {}})).items.at(0).what == MoveResult::What::moved);
    }
    answered(real_time_engine().rename({s.location.spool, from}, "renamed"));
    for (const std::string& name : {std::string("renamed"), to})
      answered(real_time_engine().remove({s.location.spool, name}));
  }
  static std::pair<std::string, std::string> two_beside() {
    std::map<uint32_t, std::string> name_in;
    for (int i = 0;; ++i) {
      const std::string name = "q" + std::to_string(i);
      const auto [found, is_new] = name_in.emplace(slot_of(name), name);
      if (!is_new) return {found->second, name};
    }
  }
  /// By a process that is dead then, and has said nothing of that.
  void leave_one_by_living() {
    push("a/living");
    const pid_t child = ::fork();
    if (child == 0) {
      const auto mine = s.another();
      LeaseRequest request;
      request.tenant = "a/living";
      const bool is_told = mine->attend({.slots = 3}).ok();
      ::_exit(is_told && mine->lease(request).value().deliveries.size() == 1 ? 0 : 1);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
  }
};

namespace full_shard {

/// Some answers have it beside what was done.
template <class T>
std::optional<Error> why_not(const Result<T>& result) {
  if (!result.ok()) return result.error();
  if constexpr (requires { result->error; }) return result->error;
  return std::nullopt;
}

}  // namespace full_shard

inline std::vector<FullShard::Asked> FullShard::all_that_is_asked() const {
  using full_shard::why_not;
  const std::string spool = s.location.spool;
  std::vector<Asked> all = {
      {"push", [](Queue& q) { return why_not(q.push(std::vector{message_for("a/new")})); }},
      {"get", [this](Queue& q) { return why_not(q.get(ready)); }},
      {"exported", [this](Queue& q) { return why_not(q.exported(ready)); }},
      {"history", [this](Queue& q) { return why_not(q.history(ready, {}, 10)); }},
      {"output", [this](Queue& q) { return why_not(q.output(of_output)); }},
      {"steps", [this](Queue& q) { return why_not(q.steps()->list(ready)); }},
      {"explain", [this](Queue& q) { return why_not(q.explain({.id = ready})); }},
      {"begin call", [](Queue& q) { return why_not(q.begin_call("a")); }},
      {"cancel",
       [this](Queue& q) {
         return why_not(q.mutate({&doomed, 1}, Action::cancel));
       }},
      {"kick",
       [this](Queue& q) {
         return why_not(q.mutate({&dead, 1}, Action::kick));
       }},
      {"edit",
       [this](Queue& q) {
         MessagePatch patch;
         patch.priority = 7;
         return why_not(q.edit(ready, patch));
       }},
      {"move",
       [this](Queue& q) {
         return why_not(q.move({&ready, 1}, {"other", {}}));
       }},
      {"move apart",
       [this](Queue& q) {
         return why_not(q.move({&ready, 1}, {"wide", {}}));
       }},
      {"import",
       [](Queue& q) {
         ExportedMessage message;
         message.id = MessageId{77}, message.tenant = "a/import";
         return why_not(q.import_messages({&message, 1}, "elsewhere"));
       }},
      {"set of a tenant",
       [](Queue& q) {
         return why_not(q.policy_set("a", {{{PolicyKey::weight, 2'000, 0, {}}}, {}}));
       }},
      {"extend",
       [this](Queue& q) {
         return why_not(q.extend({&held, 1}, 3'600'000));
       }},
      {"verdict",
       [this](Queue& q) {
         Settle ack;
         ack.receipt = held;
         return why_not(q.settle({&ack, 1}));
       }},
      {"step", [this](Queue& q) { return why_not(q.steps()->begin(stepping, "next", nullptr)); }},
      {"keep", [this](Queue& q) { return why_not(q.steps()->keep(stepping, "open", as_bytes("x"))); }},
      {"push of a step",
       [this](Queue& q) { return why_not(q.steps()->push(stepping, "more", message_for("a/child"))); }},
      {"sleep", [this](Queue& q) { return why_not(q.steps()->sleep(stepping, "s", 3'600'000, 0)); }},
      {"run of a schedule", [](Queue& q) { return why_not(q.schedules()->run("later")); }},
      {"pause of a schedule", [](Queue& q) { return why_not(q.schedules()->pause("later", true)); }},
  };
  return all;
}

}  // namespace fq::test
