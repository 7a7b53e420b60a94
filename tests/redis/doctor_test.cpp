// doctor_test - what is told of servers that refuse what changes something, or hold it up: never that all is
// well.

// System.
#include <filesystem>
#include <string>
#include <string_view>
// Tests.
#include "tests/redis/on_cluster.h"
#include "tests/redis/waiter.h"

namespace fq::test {

namespace {

/// Of the first row about it; one with nothing in it: there is none.
DoctorRow row(const std::string& spool, std::string_view about) {
  for (DoctorRow& each : real_time_engine().examine(spool, {})) {
    if (each.about == about) return each;
  }
  return {};
}

bool says(const DoctorRow& row, std::string_view words) {
  INFO(row.found);
  return row.found.find(words) != std::string::npos;
}

Health worst(const std::string& spool) {
  Health found = Health::ok;
  for (const DoctorRow& each : real_time_engine().examine(spool, {})) found = std::max(found, each.health);
  return found;
}

void configure(const TestServer& server, std::string_view name, std::string_view value) {
  REQUIRE(command(server, {"CONFIG", "SET", name, value}).kind != Reply::Kind::error);
}

}  // namespace

TEST_CASE("doctor: a server that takes no changes is a fault, also before its functions are loaded") {
  const TestServer server;
  for (const bool is_loaded : {false, true}) {
    CAPTURE(is_loaded);
    if (is_loaded) push_one(*open_on(real_time_engine(), server.spool()), "t", "x");
    CHECK(worst(server.spool()) == Health::warning);
    CHECK(row(server.spool(), "changes").about.empty());
    configure(server, "min-replicas-to-write", "1");
    const DoctorRow refused = row(server.spool(), "changes");
    CHECK(refused.health == Health::fault);
    CHECK(says(refused, "has fewer replicas than its min-replicas-to-write asks for"));
    configure(server, "min-replicas-to-write", "0");
  }
  configure(server, "maxmemory", "1");
  CHECK(row(server.spool(), "changes").health == Health::fault);
  CHECK(says(row(server.spool(), "changes"), "memory is full"));
}

TEST_CASE("doctor: a server that cannot save is told of, and that it takes no changes where it does not") {
  const TestServer server({"--enable-protected-configs", "yes"});
  push_one(*open_on(real_time_engine(), server.spool()), "t", "x");
  configure(server, "save", "3600 1");
  // Whether there are such times a server tells only those who may read its settings.
  CHECK(row(server.spool(), "saved").health == Health::warning);
  CHECK(says(row(server.spool(), "saved"), "all is lost that came after its last snapshot"));
  const std::string gone = server.socket() + ".d";
  std::filesystem::create_directory(gone);
  configure(server, "dir", gone);
  std::filesystem::remove(gone);
  command(server, {"BGSAVE"});
  wait_until([&] {
    return command(server, {"INFO", "persistence"}).text.find("rdb_last_bgsave_status:err") !=
           std::string::npos;
  });
  CHECK(says(row(server.spool(), "saved"), "could not write its last snapshot"));
  CHECK(row(server.spool(), "changes").health == Health::fault);
  CHECK(says(row(server.spool(), "changes"), "cannot save its data and takes none"));
  configure(server, "stop-writes-on-bgsave-error", "no");
  CHECK(says(row(server.spool(), "saved"), "could not write its last snapshot"));
  CHECK(row(server.spool(), "changes").about.empty());
}

TEST_CASE("doctor: of a replica is told whether it takes what is accepted, and of its disk nothing") {
  TestCluster cluster(1, 1);
  const std::string usual = cluster.spool(), strict = cluster.spool("?durability=strict");
  for (const auto& [name, value] : {std::pair("appendonly", "yes"), std::pair("appendfsync", "always"),
                                    std::pair("min-replicas-to-write", "1")})
    configure(cluster.node(0), name, value);
  push_one(*open_on(real_time_engine(), strict), "t", "x");
  CHECK(row(usual, "durability").health == Health::ok);
  CHECK(says(row(usual, "durability"), "replica: what it has accepted a replica has, too"));
  CHECK(says(row(usual, "server"), "1 replica, heard of "));
  CHECK(row(strict, "durability").health == Health::ok);
  CHECK(says(row(strict, "durability"),
             "strict: what it has accepted is on its disk, and a replica has it; nobody asks"));

  cluster.node(1).stop();
  wait_until([&] { return row(usual, "durability").health == Health::fault; });
  for (const std::string& spool : {usual, strict}) {
    const DoctorRow silent = row(spool, "durability");
    CHECK(silent.health == Health::fault);
    CHECK(says(silent, "no replica takes what it accepts"));
  }
  CHECK(row(cluster.spool("?durability=async"), "durability").health == Health::warning);
  cluster.node(1).go_on();
  wait_until([&] { return row(usual, "durability").health == Health::ok; });

  cluster.node(1).kill();
  wait_until([&] { return says(row(usual, "durability"), "async"); });
  CHECK(row(usual, "durability").health == Health::warning);
  CHECK(row(usual, "changes").health == Health::fault);
  CHECK(row(cluster.spool("?durability=replica"), "durability").health == Health::fault);
  CHECK(row(strict, "durability").health == Health::fault);
}

}  // namespace fq::test
