// purses_fixture - what the tests of limits that count over all shards share.
#pragma once

// System.
#include <memory>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/redis/records/packing.h"
#include "core/redis/sharded/purses.h"
// Tests.
#include "tests/redis/sharded_fixture.h"

namespace fq::test {

inline PolicyPatch concurrency(int64_t most) { return {{{PolicyKey::concurrency, most, 0, {}}}, {}}; }
inline Policy with_pool(int64_t most) { return {{}, {}, {{"p", {{PolicyKey::concurrency, most, 0, {}}}}}}; }
inline PolicyPatch in_pool(const std::string& pool) { return {{{PolicyKey::pool, 0, 0, pool}}, {}}; }

inline size_t settled(Queue& queue, const Delivery& delivery) {
  Settle ack;
  ack.receipt = delivery.receipt;
  ack.verdict = Verdict::ack;
  return answered(queue.settle({&ack, 1})).items.at(0) == SettleStatus::ok ? 1 : 0;
}
inline std::vector<Delivery> taken(Queue& queue, size_t want) {
  return answered(queue.lease(for_a_minute(want))).deliveries;
}

inline LentRecord lent_to(const TestServer& server, uint64_t shard) {
  return read_lent(command(server, {"HGET", tag_of(server, shard) + "h", "lent"}).text);
}
inline double share_of(const TestServer& server, uint64_t shard, std::string_view name = kRunning) {
  const LentRecord record = lent_to(server, shard);
  const LentUnits* const units = record.find(name);
  return units == nullptr ? -1 : units->share;
}
inline void restart_of(const TestServer& server, uint64_t shard) {
  command(server, {"HSET", tag_of(server, shard) + "h", "run", "another"});
}
inline uint64_t functions_called(const TestServer& server) {
  const std::string stats = command(server, {"INFO", "commandstats"}).text;
  const size_t at = stats.find("cmdstat_fcall:calls=");
  REQUIRE(at != std::string::npos);
  return std::stoull(stats.substr(at + std::string_view("cmdstat_fcall:calls=").size()));
}
/// Where the purse of a limit lies.
inline std::string purse_key(const TestServer& server, std::string_view name) {
  const Reply found = command(server, {"KEYS", "*pu:" + std::string(name)});
  REQUIRE(found.items.size() == 1);
  return found.items[0].text;
}

/// Purses as a client has them, whose steps a test takes one by one.
struct Client {
  explicit Client(const TestServer& server, Clock* told_time = nullptr)
      : shards(entry(server), access(server, told_time)), purses(shards) {}

  static ServerAccess access(const TestServer& server, Clock* told_time) {
    ServerAccess access;
    access.place = answered(parse_redis_place(server.spool()));
    access.library = told_time == nullptr ? &redis_library() : &told_time_library();
    access.told_time = told_time;
    access.command_key = std::make_shared<const CommandKey>(answered(a_command_key()));
    access.link = std::make_shared<ServerLink>(access.place, access.password);
    return access;
  }
  static QueueEntry entry(const TestServer& server) {
    return *answered(Catalog(access(server, nullptr)).find("default"));
  }
  /// The loans that a shard needs, which are lost if nobody hands them on.
  std::string fetch(const TestServer& server, size_t shard, size_t want) {
    for (size_t each = 0; each < shards.count(); ++each)
      purses.know(each, command(server, {"HGET", shards.tag(each) + "h", "lent"}).text);
    purses.begin();
    return answered(purses.fetch(shard, want));
  }
  /// The loan of so much for a shard, by what that tells; "": there is none.
  std::string borrow(const TestServer& server, std::string_view name, size_t shard, double want) {
    const LentRecord record = lent_to(server, shard);
    const LentUnits* const units = record.find(name);
    if (units == nullptr) return "";
    Packer asked, told;
    asked.number(static_cast<double>(shards.count())).number(static_cast<double>(shard));
    for (const double each : {want, units->age, 7.0}) asked.number(each);
    told.number(static_cast<double>(shard));
    for (const double each :
         {units->age, units->tag, units->loans, units->share, units->most, units->interval, units->since})
      told.number(each);
    RedisQueue& home = shards.at(shards.of_tenant(name));
    const Reply reply =
        answered(home.shard().change("change", {"purse", name, asked.bytes(), told.bytes()})).at(1);
    if (reply.at(0).text != "loan") return "";
    Packer loan;
    loan.raw(reply.at(1).text);
    for (const size_t each : {2U, 3U, 4U}) loan.number(std::stod(reply.at(each).text));
    return loan.number(static_cast<uint16_t>(name.size())).raw(name).bytes();
  }
  void bring(size_t shard, std::string_view loans) {
    answered(shards.at(shard).shard().change("change", {"lent_take", loans}));
  }
  /// With what is taken by them.
  std::vector<Delivery> brought(size_t shard, std::string_view loans, size_t want) {
    LeaseReply reply;
    uint64_t bytes = 1'000'000;
    answered(shards.at(shard).leases().add(for_a_minute(want), want, bytes, reply, loans, false));
    return std::move(reply.deliveries);
  }
  size_t hand_on(size_t shard, std::string_view loans, size_t want) {
    return brought(shard, loans, want).size();
  }

  Shards shards;
  Purses purses;
};

inline bool is_well(Queue& queue) {
  const CheckReport report = answered(queue.check());
  for (const std::string& line : report.findings.lines) UNSCOPED_INFO(line);
  for (const std::string& line : report.remarks.lines) UNSCOPED_INFO(line);
  return report.findings.empty() && report.remarks.empty();
}

}  // namespace fq::test
