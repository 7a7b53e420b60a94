// moves_fixture - what the tests of moves share: two queues, and a client whose steps a test takes one by
// one.
#pragma once

// System.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>
// Tests.
#include "tests/redis/purses_fixture.h"

namespace fq::test {

inline constexpr int64_t kPatienceMs = 15'000;

/// One of a single shard as one of many.
inline QueueEntry cut(QueueEntry entry) {
  if (entry.tags.empty()) entry.tags = {entry.tag};
  return entry;
}

/// A client that moves one message, and stops where a test wants it to.
struct Stalled {
  ServerAccess access;
  Shards from, to;
  MessageId id;
  std::string token;
  Reply parcel = {};

  Stalled(const ServerAccess& with, const QueueEntry& source, const QueueEntry& target, MessageId message,
          std::string drawn)
      : access(with), from(cut(source), with), to(cut(target), with), id(message), token(std::move(drawn)) {}

  Shard& here() { return from.at(from.of_id(id)).shard(); }
  Shard& there() { return to.at(to.of_tenant(tenant())).shard(); }
  std::string tenant() {
    if (parcel_tenant.empty()) {
      const Reply told = answered(here().look({"get", name()}));
      const std::optional<MessageRecord> record = read_record(told.at(1).at(1).text);
      if (record) parcel_tenant = std::string(record->tenant);
    }
    return parcel_tenant;
  }
  std::string name() const { return std::to_string(number(id)); }

  std::string send() {
    const std::string tag = there().tag();
    parcel = answered(here().change("crossing", {"send", name(), token, tag, "to", ""})).at(1);
    return parcel.at(0).text;
  }
  /// What is said, and the id there.
  std::pair<std::string, std::string> take() {
    const std::string tenant = this->tenant();
    const Reply told =
        answered(there().change("take", {token, "from", "to", name(), tenant, "", parcel.at(1).text,
                                         parcel.at(2).text, parcel.at(3).text, parcel.at(4).text}));
    return {told.at(1).at(0).text, told.at(1).at(1).text};
  }
  void leave(const std::string& id_there) {
    answered(here().change("crossing", {"leave", name(), token, id_there}));
  }
  void forget() { answered(there().change("crossing", {"forget", token})); }
  void done() { answered(here().change("crossing", {"done", name(), token})); }
  /// So many of its steps.
  void go(int steps) {
    if (steps > 0) REQUIRE(send() == "sent");
    std::string id_there;
    if (steps > 1) {
      const auto [said, told_id] = take();
      REQUIRE(said == "taken");
      id_there = told_id;
    }
    if (steps > 2) leave(id_there);
    if (steps > 3) forget();
    if (steps > 4) done();
  }
  std::string parcel_tenant = {};
};

/// Two queues on one server, by a clock that tests set.
struct Two {
  explicit Two(uint32_t shards_from = 4, uint32_t shards_to = 4) {
    for (const auto& [name, shards] : {std::pair("from", shards_from), std::pair("to", shards_to)})
      REQUIRE(answered(told_time_engine().create({server.spool(), name}, {.shards = shards})));
    from = open("from");
    to = open("to");
    // Which tells each of their shards the time.
    REQUIRE(from->maintain(10).ok());
    REQUIRE(to->maintain(10).ok());
  }
  std::unique_ptr<Queue> open(const std::string& name) {
    OpenOptions options;
    options.clock = &clock;
    return answered(told_time_engine().open({server.spool(), name}, options));
  }
  Stalled stalled(MessageId id, const std::string& token = "token") {
    const ServerAccess access = Client::access(server, &clock);
    Catalog catalog(access);
    return {access, *answered(catalog.find("from")), *answered(catalog.find("to")), id, token};
  }
  MoveResult move(MessageId id, const std::string& tenant = {}) {
    const MoveReply reply = answered(from->move({&id, 1}, {"to", tenant}));
    INFO((reply.error ? reply.error->text : std::string()));
    REQUIRE(!reply.error);
    return reply.items.at(0);
  }
  static std::vector<std::string> served(Queue& queue) {
    std::vector<std::string> payloads;
    for (const Delivery& each : answered(queue.lease(for_a_minute(100))).deliveries) {
      payloads.push_back(answered(each.payload.read_all()));
      CHECK(settled(queue, each) == 1);
    }
    std::sort(payloads.begin(), payloads.end());
    return payloads;
  }
  State state(Queue& queue, MessageId id) { return answered(queue.get(id)).value().state; }
  /// Nothing is left of any move, and all is well.
  void is_over() {
    CHECK(command(server, {"KEYS", "*:mv"}).items.empty());
    for (Queue* const queue : {from.get(), to.get()}) {
      const CheckReport report = answered(queue->check());
      for (const std::string& line : report.findings.lines) UNSCOPED_INFO(line);
      CHECK(report.findings.empty());
    }
    // Of tokens only those that were closed, which have an end.
    int64_t kept = 0;
    for (const Reply& key : command(server, {"KEYS", "*:u"}).items)
      kept += command(server, {"HLEN", key.text}).number;
    int64_t with_end = 0;
    for (const Reply& key : command(server, {"KEYS", "*:ux"}).items)
      with_end += command(server, {"ZCARD", key.text}).number;
    CHECK(kept == with_end);
  }

  FakeClock clock;
  TestServer server;
  std::unique_ptr<Queue> from, to;
};

}  // namespace fq::test
