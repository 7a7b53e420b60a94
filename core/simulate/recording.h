// recording - the past of a queue, made of its events, to be played once more.
//
// Of each message it keeps when it came, and of each of its runs how long it took and how it ended. Facts
// that the events do not tell are assumed, and counted so that this can be said: see Assumed.
//
// An event that is told twice (a log that was followed anew begins with the end of another) counts once:
// nothing happens to a message before its last event.
#pragma once

// System.
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
// fq, below us.
#include "core/api/event.h"
// fq, this room.
#include "core/simulate/load.h"

namespace fq {

class Recording : public Load {
 public:
  struct Assumed {
    uint64_t pushed_before = 0;  // messages whose push was not told: ready from the beginning, not counted
    uint64_t arrived = 0;        // messages from another queue: ready when they came, not counted
    uint64_t nameless = 0;       // runs of messages of which nothing tells whose they are: left out
    uint64_t without_run = 0;    // that had not started by the end: they run as long as others do
    uint64_t cut_off = 0;        // runs that had not ended by the end, and are taken to have
  };

  void add(const Event& event);
  /// Of one before the beginning: what it sets holds then.
  void add_before(const Event& event);
  /// After the last one; before it is played.
  void finish();

  bool empty() const { return timeline_.size() == set_before_; }
  const Assumed& assumed() const { return assumed_; }
  /// So many ran at once.
  uint32_t most_at_once() const;

  void rewind() override { played_ = 0; }
  int64_t next_ms() const override { return played_ < timeline_.size() ? timeline_[played_].at_ms : kNever; }
  Happening take() override { return timeline_[played_++]; }
  Incoming arrival(uint64_t message) const override;
  uint32_t tenant_of(uint64_t message) const override { return messages_[message - 1].tenant; }
  Run run(uint64_t message, uint32_t nth) const override;
  const Setting& setting(uint64_t which) const override { return settings_[which]; }
  const std::vector<std::string>& tenants() const override { return tenants_; }
  bool has_followers() const override { return has_followers_; }
  bool is_whole(uint64_t message) const override { return messages_[message - 1].whole; }
  int64_t counts_until_ms(uint64_t message) const override {
    return messages_[message - 1].first_run == kNoIndex ? end_ms_ : kNever;
  }
  int64_t begin_ms() const override { return begin_ms_; }
  int64_t end_ms() const override { return end_ms_; }
  int64_t taken_from_ms() const override { return taken_from_ms_; }

 private:
  struct RecordedRun {
    int64_t start_ms = 0;
    int64_t end_ms = 0;
    int64_t back_ms = 0;  // 0: at once
    uint32_t next = kNoIndex;
    RunEnding ending = RunEnding::acked;
  };
  struct Message {
    int64_t pushed_ms = 0, due_ms = 0;
    int64_t ttl_ms = kNever;
    int64_t lease_until_ms = 0;  // of its last run; 0: as long as its process lives
    int64_t last_ms = 0;         // when something happened to it last, and what
    std::string_view last;
    uint32_t tenant = 0, bytes = 0;
    int32_t priority = 0;
    uint32_t key = 0;  // place in keys_
    uint32_t first_run = kNoIndex, last_run = kNoIndex;
    std::vector<uint64_t> after;
    bool whole = true;
    bool running = false;
  };
  /// Of a tenant's runs: for those of which nothing is known.
  struct Runs {
    int64_t sum_ms = 0;
    int64_t count = 0;
  };

  Message* find(const Event& event, bool begins);
  void add_push(const Event& event);
  void add_start(const Event& event);
  void add_end(const Event& event, RunEnding ending);
  void add_kick(const Event& event);
  void add_freed(Message& message, const Event& event);
  void add_setting(const Event& event);
  void happen(Happening::What what, const Event& event, uint64_t which);
  void close_run(Message& message, int64_t end_ms, RunEnding ending, int64_t back_ms);
  void add_after(Message& message, std::string_view ids, uint64_t flags);
  uint32_t tenant_number(std::string_view tenant);
  uint64_t number_of(const Message& message) const {
    return static_cast<uint64_t>(&message - messages_.data()) + 1;
  }
  int64_t usual_run_ms(uint32_t tenant) const;

  std::vector<Message> messages_;
  std::vector<RecordedRun> runs_;
  std::vector<Happening> timeline_;
  std::vector<Setting> settings_;
  std::vector<std::string> tenants_;
  std::vector<std::string> keys_ = {""};
  std::vector<Runs> runs_by_tenant_;
  std::unordered_map<uint64_t, uint32_t> by_id_;
  std::unordered_map<std::string, uint32_t> tenant_numbers_;
  Assumed assumed_;
  int64_t begin_ms_ = kNever, end_ms_ = 0;
  int64_t taken_from_ms_ = kNever;
  size_t played_ = 0;
  size_t set_before_ = 0;  // settings from before the beginning
  bool has_followers_ = false;
};

}  // namespace fq
