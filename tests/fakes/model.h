// model - what a queue has to do, in so few lines that one can see that it is right.
//
// The oracle of the random histories: one vector of messages, looked through whenever something is asked. It
// forgets nothing, checks no input and never waits; model_queue makes an engine of it.
#pragma once

// System.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
// Tests.
#include "tests/fakes/model_turns.h"

namespace fq::test {

class Model {
 public:
  struct Waited {
    MessageId id{};
    bool any = false;
    bool closed = false;
    uint64_t began = 0;
  };
  struct Step {
    StepInfo info;
    std::string output;
    MessageId child{};
    bool over = true;
    bool all_acked = true;
    std::vector<MessageId> ids;
  };
  struct Message {
    MessageInfo info;  // attempts_max 0: the queue's
    std::string key;   // its place in its tenant: by key, by rank, by age
    int32_t rank = 0;
    std::optional<int64_t> timer;   // boot_ms of its due time or its lease's end
    std::optional<int64_t> ttl_ms;  // from when it is ready, before its first start
    int64_t since_ms = 0;           // boot_ms since which it is ready, or dead
    bool expired = false;           // dead for that reason
    Receipt receipt;                // "ID.SERIAL" of its last lease
    ModelTurns::Start start;        // of its last lease
    int64_t began_ms = 0;
    std::optional<uint64_t> run_us;  // as its verdict tells
    uint32_t attempts_in_force = 0;  // of its last lease; 0: never leased
    std::optional<int64_t> timeout_ms, keep_ms;
    std::optional<CallId> call;
    std::string unique_key;  // of --unique or --debounce
    bool key_debounced = false;
    bool holds_key = false;
    int64_t unique_for_ms = 0, key_until_ms = 0;
    std::vector<Waited> waits;             // held: what it came after
    MessageId behind{};                    // held behind this one, which has the same key; 0: none
    int64_t held_due_ms = 0;               // boot_ms: not before, once it is let go
    std::optional<int64_t> held_delay_ms;  // instead: so long after that
    std::vector<int64_t> extended_until;   // wall_ms, under its last lease
    int64_t told_until_wall_ms = 0;        // after its end
    int64_t output_ms = 0;                 // so long the output of its run is kept
    std::vector<Step> steps;
    uint32_t last_retries = 0;  // retries that buried it
    bool suspended = false;     // its lease ends in a sleep until held_due_ms, or for step_waits
    std::vector<MessageId> step_waits;
    std::vector<HistoryEvent> history;
  };

  explicit Model(Clock& c) : clock(c) {}

  /// When its last run began; none: it had none.
  static std::optional<int64_t> started_at(const Message& message);

  // Every call first fires what is due, earliest first, as every engine must.
  PushResult put(const NewMessage& from);                         // settle_held() after the last of a batch
  void settle_held();                                             // and of mutate()
  MessageId push(const NewMessage& from, MessageId behind = {});  // whatever its key
  // model_exchange.cpp
  /// None: it has ended.
  std::optional<ExportedMessage> exported(MessageId id);
  /// None: its key is in use. Settle_held() after it.
  std::optional<MessageId> import(const ExportedMessage& from);
  std::vector<Delivery> lease(const LeaseRequest& request);
  SettleStatus settle(const Settle& item);
  ExtendResult extend(const Receipt& receipt, int64_t duration_ms);
  SettleStatus mutate(MessageId id, Action action);
  SettleStatus edit(MessageId id, const MessagePatch& patch);
  // model_steps.cpp
  static const Step* step_of(const Message& message, std::string_view name);
  /// Pushes it, unless a step of this name has; none: the receipt does not hold.
  std::optional<MessageId> push_step(const Receipt& receipt, std::string_view name, const NewMessage& from);
  StepPause sleep_step(const Receipt& receipt, std::string_view name, int64_t span_ms);
  StepPause wait_step(const Receipt& receipt, std::string_view name, std::vector<MessageId> ids);
  /// Where it is suspended: it sleeps now, whatever its lease ended with.
  bool fall_asleep(Message& message);
  Result<SettleStatus> keep_step(const Receipt& receipt, std::string_view name, std::string_view output);
  void set(const std::string& path, const PolicyPatch& patch);
  /// As the policy file has them; what was set at run time wins.
  void load(const Settings& from_file);
  void set_pools(const std::vector<PoolRule>& pools);
  void set_rules(const std::vector<TenantRule>& rules);
  void fire_timers();

  std::optional<Explanation> explain(MessageId id);
  Message* find(MessageId id);               // none: there never was one
  Message* held_by(const Receipt& receipt);  // none: it is no longer valid
  /// Its own, or those of its last lease, or the queue's.
  uint32_t attempts_max(const Message& message) const {
    if (message.info.attempts_max != 0) return message.info.attempts_max;
    return message.attempts_in_force != 0 ? message.attempts_in_force
                                          : attempts_of(settings, message.info.command.has_value());
  }
  /// Nothing is ready or leased, and nothing that was leased once waits for its time.
  bool is_idle() const;
  /// When the next timer is due; kNever without one.
  int64_t next_timer_ms() const;
  /// The message whose turn it is at `path` and below ("" is everything).
  Message* next(std::string_view path);
  /// Those that are ready at `path` and below, in the order in which they would be served; what is limited
  /// comes last, by tenant.
  std::vector<MessageId> ready(std::string_view path) const;
  /// Of those that no limit keeps now first all that would start, one after the other, then the others in
  /// turns.
  struct Outlook {
    std::vector<MessageId> ids;
    size_t starting = 0;
  };
  Outlook outlook(std::string_view path) const;

  Clock& clock;
  Settings settings;
  struct Times {
    std::vector<int64_t> waits_ms, runs_ms;  // before the first lease, and up to each verdict
  };
  std::map<std::string, Times> times;  // by tenant
  /// If set: no lease of a message is over before that.
  std::function<int64_t(MessageId)> patient_until_ms;
  std::vector<Message> messages;                  // by id, from 1; finished ones too
  struct Setting {
    int64_t at_wall_ms;
    std::string path;
    PolicyPatch patch;
  };
  std::deque<Setting> settings_log;
  // Every event: whose, and which of its history; id 0: which of settings_log.
  std::vector<std::pair<MessageId, size_t>> log;

  const ModelTurns& turns() const { return turns_; }

 private:
  /// That have turns at `path` and below. `start`: each uses up its limits.
  std::vector<MessageId> turns_at(std::string_view path, bool start) const;
  Delivery deliver(Message& message, const LeaseRequest& request, bool more);
  /// The first of a leaf that is ready.
  Message* first_of(const std::string& leaf);
  uint64_t ready_in(const std::string& leaf) const;
  /// What it has gathers from its oldest on.
  void gather(const std::string& leaf);
  // model_policy.cpp
  /// What holds for the queue, after one of its layers changed.
  void put_together();
  void set_tenant(const std::string& path, const PolicyPatch& patch);
  void note_set(const std::string& path, PolicyPatch patch);
  PolicyValues rules_for(const std::string& path) const;
  void follow_rules(const std::string& path);
  /// It and all above it are there from now on.
  void meet(const std::string& path);
  /// Moves a message to a state, out of whatever it was in. With a timer, or without.
  void move(Message& message, State state, std::optional<int64_t> timer = {});
  // model_keys.cpp
  bool holds_key(const Message& message) const;
  Message* holder(const std::string& tenant, const std::string& key, bool debounced);
  void replace(Message& message, const NewMessage& from);
  PushResult put_beside(Message& there, const NewMessage& from);
  MessageId take_key(MessageId id, const NewMessage& from, const std::string& key, bool debounced);
  void note_key(Message& message, State state);
  void regain_key(Message& message);

  // model_edit.cpp
  void set_time(Message& message, const MessagePatch& patch);

  // model_waits.cpp
  void hold(Message& message, const NewMessage& from, MessageId behind);
  void note_ended(MessageId id);
  void kick(Message& message);
  Message* buried_by(MessageId id);  // that is to be held again
  Message* first_waiter(MessageId id);
  void settle_wait(Message& message, MessageId ended);
  bool hold_again(Message& message);

  void ready_since(Message& message, int64_t since_ms);
  static std::optional<int64_t> end_of_wait(const Message& message);
  SettleStatus judge(const Settle& item);
  SettleStatus end(Message& message, State state, std::string_view event, const std::string& reason = {});
  /// Until this time, or so long, as one of the two is given.
  int64_t wait_ms(std::optional<int64_t> at_wall_ms, std::optional<int64_t> delay_ms) const;
  void come_back(Message& message, int64_t delay_ms);
  /// True: that was the last one, and it is dead.
  void note_told(Message& message);
  void tell_running(Reason& reason) const;
  bool cut_off(Message& message);
  bool attempt_failed(Message& message, int64_t delay_ms, const std::string& reason);
  void note(Message& message, std::string_view event, const std::string& reason = {}) {
    HistoryEvent& told = message.history.emplace_back(HistoryEvent{event, clock.wall_ms(), {}, {}, reason});
    const bool delays = event == "retried" || event == "released" || event == "edited" || event == "replaced";
    if (delays && message.info.state == State::delayed) told.due_wall_ms = *message.info.due_at_wall_ms;
    log.emplace_back(message.info.id, message.history.size() - 1);
  }

  // model_exchange.cpp
  bool is_unfinished(MessageId id);
  void tell_place(const Message& message, ExportedMessage& to);
  void tell_steps(const Message& message, ExportedMessage& to);
  void tie(Message& message, const ExportedMessage& from);

  ModelTurns turns_;
  Settings file_;
  std::map<PolicyKey, PolicyValue> run_time_;  // of the queue
  std::vector<TenantRule> rules_;
  std::map<std::string, std::set<PolicyKey>> set_of_;  // at run time, of tenants
  std::set<std::string> met_;                          // all paths that are there
  uint64_t last_serial_ = 0;
  uint64_t last_wait_ = 0;
  std::deque<MessageId> ended_;  // and those that waited for them were not looked at yet
};

/// A span that does not fit is as good as for ever.
inline std::optional<int64_t> fitting(std::optional<int64_t> ms) {
  return ms ? std::optional(std::min(*ms, kLatestMs)) : ms;
}

inline bool is_finished(State state) { return state == State::acked || state == State::cancelled; }

/// Whether a tenant is `path` or below it; "" is above all.
inline bool is_below(std::string_view tenant, std::string_view path) {
  if (path.empty() || tenant == path) return true;
  return tenant.starts_with(path) && tenant[path.size()] == '/';
}

}  // namespace fq::test
