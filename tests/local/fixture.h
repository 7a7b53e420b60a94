// fixture - a local queue in a directory of its own, with a clock that stands still.
//
// Speaks verbs, so that a test body is about the engine. lose_segment() closes every handle and deletes the
// segment: what is there afterwards comes from the journal alone.
#pragma once

// System.
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <fstream>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/queue.h"
#include "core/local/shared/layout.h"
#include "core/schedule/memory/root.h"
// Tests.
#include "tests/catch.h"
#include "tests/fakes/fake_clock.h"

namespace fq::test {

class SpoolFixture {
 public:
  static std::string usual_base() {
    const char* base = std::getenv("TMPDIR");
    return base != nullptr ? base : "/tmp";
  }
  explicit SpoolFixture(const std::string& base = usual_base()) : directory_(base + "/fq-engine-XXXXXX") {
    REQUIRE(::mkdtemp(directory_.data()) != nullptr);
    queue_ = open();
  }
  ~SpoolFixture() {
    queue_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  SpoolFixture(const SpoolFixture&) = delete;
  SpoolFixture& operator=(const SpoolFixture&) = delete;

  FakeClock clock;

  Queue& door() { return *queue_; }
  std::unique_ptr<Queue> open() {
    OpenOptions options;
    options.create = true;
    auto opened = try_open(options);
    INFO((opened.ok() ? std::string() : opened.error().text));
    REQUIRE(opened.ok());
    return std::move(opened).value();
  }
  /// The clock apart as the options say.
  Result<std::unique_ptr<Queue>> try_open(OpenOptions options) {
    options.clock = &clock;
    return open_queue({directory_ + "/spool", "default"}, options);
  }
  std::string path(const std::string& name) const { return directory_ + "/spool/queues/default/" + name; }
  uint64_t journal_bytes() const {
    uint64_t bytes = 0;
    for (const auto& file : std::filesystem::directory_iterator(path("journal"))) bytes += file.file_size();
    return bytes;
  }
  /// By number, which is by age.
  std::map<int, uint64_t> journal_files() const {
    std::map<int, uint64_t> sizes;
    for (const auto& file : std::filesystem::directory_iterator(path("journal")))
      sizes[std::atoi(file.path().filename().c_str())] = file.file_size();
    return sizes;
  }
  /// Nothing waits for the disk any more.
  void sync_lazily() {
    const PolicyValue lazy{PolicyKey::sync, static_cast<int64_t>(SyncMode::lazy), 0, {}};
    REQUIRE(queue_->policy_set("", {.set = {lazy}}).ok());
  }
  void lose_segment() {
    queue_.reset();
    std::filesystem::remove(path("segment"));
    queue_ = open();
  }
  /// Puts a number into the segment's header, past everybody who uses it.
  template <class Number>
  void write_header(size_t offset, Number number) const {
    std::fstream file(path("segment"), std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(&number), sizeof number);
  }
  template <class Number>
  Number read_header(size_t offset) const {
    Number number{};
    std::ifstream file(path("segment"), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(&number), sizeof number);
    return number;
  }
  /// Whoever takes the lock next finds the segment damaged and makes it anew.
  void poison() const { write_header(offsetof(SegmentHeader, phase), static_cast<uint32_t>(Phase::poisoned)); }
  void close() { queue_.reset(); }
  void reopen() {
    queue_.reset();
    queue_ = open();
  }

  uint64_t push(const std::string& payload, Durability durability = Durability::always,
                const std::string& tenant = "default") {
    NewMessage message{.tenant = tenant, .payload = as_bytes(payload)};
    auto pushed = queue_->push({&message, 1}, {.durability = durability});
    REQUIRE(pushed.ok());
    REQUIRE(pushed->items.at(0).status == PushStatus::accepted);
    return number(pushed->items[0].id);
  }
  LeaseReply lease_from(Queue& queue, LeaseRequest request) {
    auto leased = queue.lease(request);
    INFO((leased.ok() ? std::string() : leased.error().text));
    REQUIRE(leased.ok());
    return std::move(leased).value();
  }
  /// One, for a time; there must be one.
  Delivery lease(int64_t hold_ms = 60'000) {
    LeaseReply reply = lease_from(*queue_, {.hold = Hold::duration, .hold_ms = hold_ms});
    REQUIRE(reply.deliveries.size() == 1);
    return std::move(reply.deliveries[0]);
  }
  SettleStatus settle(Queue& queue, const Settle& verdict) {
    auto settled = queue.settle({&verdict, 1});
    REQUIRE(settled.ok());
    return settled->items.at(0);
  }
  SettleStatus ack(const Delivery& delivery) { return settle(*queue_, {.receipt = delivery.receipt}); }
  MessageInfo get(uint64_t id) {
    auto got = queue_->get(MessageId{id});
    REQUIRE(got.ok());
    REQUIRE(got->has_value());
    return **got;
  }
  std::string history(uint64_t id) {
    auto page = queue_->history(MessageId{id}, {}, 100);
    REQUIRE(page.ok());
    std::string text;
    for (const HistoryEvent& each : page->events) text += (text.empty() ? "" : " ") + std::string(each.event);
    return text;
  }
  /// Payloads that can be served now, in order, leased and acked.
  std::string drain() {
    std::string text;
    for (;;) {
      LeaseReply reply = lease_from(*queue_, {.want = 100});
      if (reply.deliveries.empty()) return text;
      for (const Delivery& each : reply.deliveries) {
        text += (text.empty() ? "" : " ") + each.payload.read_all().value();
        CHECK(ack(each) == SettleStatus::ok);
      }
    }
  }
  void outlive_first_file() { outlive_file(1); }
  /// Messages of another tenant come and go until this journal file is given back.
  void outlive_file(int number) {
    const std::string payload(20'000, 'c');
    const std::string file = path("journal/" + std::to_string(number) + ".fqj");
    for (int i = 0; i < 2'000 && std::filesystem::exists(file); ++i) {
      push(payload, Durability::lazy, "churn");
      LeaseReply leased = lease_from(*queue_, {.tenant = "churn"});
      REQUIRE(ack(leased.deliveries.at(0)) == SettleStatus::ok);
      REQUIRE(queue_->maintain(0).ok());
    }
    REQUIRE_FALSE(std::filesystem::exists(file));
  }
  /// Calls `write`, whose records follow files full of messages of another tenant, which end then: what has to
  /// stay is carried forward, and most of that lies in the ring still.
  template <class Write>
  void carry_behind(const Write& write) {
    constexpr size_t kMany = 100;
    const std::string payload(60'000, 'c');
    for (size_t i = 0; i < kMany; ++i) push(payload, Durability::lazy, "churn");
    push("c", Durability::always, "churn");
    write();
    std::vector<Settle> acks;
    for (const Delivery& each : lease_from(*queue_, {.want = kMany + 1, .tenant = "churn"}).deliveries)
      acks.push_back({.receipt = each.receipt});
    REQUIRE(queue_->settle(acks).ok());
    REQUIRE(queue_->maintain(0).ok());
    REQUIRE_FALSE(std::filesystem::exists(path("journal/1.fqj")));
  }
  /// So many others end that nobody remembers how any message ended before.
  void forget_outcomes() {
    for (uint32_t ended = 0; ended <= kOutcomesMax; ended += 1'000) {
      const std::vector<NewMessage> others(1'000);
      const Result<PushReply> pushed = queue_->push(others, {.durability = Durability::lazy});
      REQUIRE(pushed.ok());
      std::vector<MessageId> ids;
      for (const PushResult& each : pushed->items) ids.push_back(each.id);
      REQUIRE(queue_->mutate(ids, Action::cancel)->changed == ids.size());
    }
  }
  StatsRow stats() { return queue_->stats({}).value().rows.at(0); }
  /// The live segment equals a rebuild from the journal.
  void check_clean() {
    auto report = queue_->check();
    INFO((report.ok() ? std::string() : report.error().text));
    REQUIRE(report.ok());
    for (const std::string& finding : report->findings.lines) {
      INFO(finding);
      CHECK(false);
    }
  }
  void set_policy(const Settings& settings) {
    FileIdentity identity;
    identity.inode = ++policy_count_;
    REQUIRE(queue_->policy_load({values_of(settings), {}, {}}, identity).ok());
  }

 private:
  std::string directory_;
  std::unique_ptr<Queue> queue_;
  uint64_t policy_count_ = 0;
};

inline std::string text_of(const Delivery& delivery) { return delivery.payload.read_all().value(); }

}  // namespace fq::test
