#include "tests/servers/cluster.h"

// System.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <initializer_list>
#include <random>
#include <stdexcept>
#include <thread>
// fq, below us.
#include "core/redis/wire/server.h"
#include "core/redis/wire/slots.h"

namespace fq::test {

namespace {

constexpr int kJoinMs = 60'000;  // on a machine that is busy with other tests
constexpr uint16_t kBusAbove = 10'000;

bool is_free(uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return bound;
}

/// Nothing tells when servers have heard of each other.
void wait_for(const char* what, const std::function<bool()>& is_so) {
  for (int waited_ms = 0; !is_so(); waited_ms += 10) {
    if (waited_ms >= kJoinMs) throw std::runtime_error(std::string("a cluster: not in time: ") + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

bool says(const Reply& reply, std::string_view line) { return reply.text.find(line) != std::string::npos; }

/// One that is to be carried out.
void order(const TestServer& server, std::initializer_list<std::string_view> words) {
  const Reply reply = command(server, words);
  if (reply.kind == Reply::Kind::error)
    throw std::runtime_error(std::string(*words.begin()) + ": " + reply.text);
}

}  // namespace

/// Below those that the kernel gives away by itself.
uint16_t free_port() {
  std::random_device random;
  for (;;) {
    const auto port = static_cast<uint16_t>(11'000 + random() % 10'000);
    if (is_free(port) && is_free(port + kBusAbove)) return port;
  }
}

Reply command(const TestServer& server, const std::vector<std::string_view>& words) {
  RedisPlace place;
  place.socket = server.socket();
  Result<std::unique_ptr<Server>> connection = Server::open(place, "");
  if (!connection) throw std::runtime_error(connection.error().text);
  Result<Reply> reply = (*connection)->call(words);
  if (!reply) throw std::runtime_error(reply.error().text);
  return std::move(reply).value();
}

TestCluster::TestCluster(size_t masters, size_t replicas_each) {
  start(masters * (1 + replicas_each));
  join(masters);
}

void TestCluster::start(size_t count) {
  while (nodes_.size() < count) {
    Node node;
    node.port = free_port();
    const std::string port = std::to_string(node.port);
    node.server = std::make_unique<TestServer>(std::vector<std::string>{
        "--port", port, "--bind", "127.0.0.1", "--cluster-enabled", "yes", "--cluster-node-timeout", "2000",
        "--cluster-require-full-coverage", "no", "--repl-diskless-sync-delay", "0"});
    nodes_.push_back(std::move(node));
  }
}

void TestCluster::join(size_t masters) {
  for (size_t i = 0; i < size(); ++i) {
    command(node(i), {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    if (i >= masters) continue;
    const std::string first = std::to_string(kSlots * i / masters),
                      last = std::to_string(kSlots * (i + 1) / masters - 1);
    command(node(i), {"CLUSTER", "ADDSLOTSRANGE", first, last});
  }
  for (size_t i = 1; i < size(); ++i)
    command(node(0), {"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[i].port)});
  const std::string all = "cluster_known_nodes:" + std::to_string(size()) + "\r";
  wait_for("they know each other", [&] {
    for (size_t i = 0; i < size(); ++i) {
      if (!says(command(node(i), {"CLUSTER", "INFO"}), all)) return false;
    }
    return true;
  });
  for (size_t i = masters; i < size(); ++i) {
    const std::string master = name_of(i % masters);
    wait_for("a replica knows its master", [&] {
      return command(node(i), {"CLUSTER", "REPLICATE", master}).kind != Reply::Kind::error;
    });
  }
  for (size_t i = masters; i < size(); ++i) {
    wait_for("a replica follows its master", [&] {
      return says(command(node(i), {"INFO", "replication"}), "master_link_status:up");
    });
    wait_for_replicas(i % masters, 1);  // later than that, and until then WAIT waits in vain
  }
  wait_until_whole();
}

void TestCluster::wait_until_whole() const {
  for (const Node& each : nodes_) {
    wait_for("all slots are served", [&] {
      if (!each.server->lives()) return true;
      const Reply info = command(*each.server, {"CLUSTER", "INFO"});
      return says(info, "cluster_state:ok") && says(info, "cluster_slots_ok:16384");
    });
  }
}

void TestCluster::wait_for_replicas(size_t master, size_t count) const {
  wait_for("a master has its replicas", [&] {
    const Reply info = command(node(master), {"INFO", "replication"});
    const std::string all = "connected_slaves:" + std::to_string(count) + "\r";
    return says(info, all) && (count == 0 || says(info, "state=online"));
  });
}

std::string TestCluster::spool(const std::string& options) const {
  std::string hosts;
  for (size_t i = 0; i < size(); ++i) hosts += (hosts.empty() ? "" : ",") + address(i);
  return "redis://" + hosts + "/" + options;
}

std::string TestCluster::name_of(size_t i) const {
  return command(*nodes_.at(i).server, {"CLUSTER", "MYID"}).text;
}

/// As `asked` says.
std::optional<size_t> TestCluster::owner_by(const Node& asked, int64_t slot) const {
  const Reply ranges = command(*asked.server, {"CLUSTER", "SLOTS"});
  for (const Reply& range : ranges.items) {
    if (slot < range.at(0).number || slot > range.at(1).number) continue;
    for (size_t i = 0; i < size(); ++i) {
      if (nodes_[i].port == range.at(2).at(1).number) return i;
    }
  }
  return std::nullopt;
}

size_t TestCluster::owner_of(std::string_view key) const {
  const int64_t slot = slot_of(key);
  std::optional<size_t> owner;
  wait_for("all say the same of a slot", [&] {
    owner.reset();
    for (const Node& asked : nodes_) {
      if (!asked.server->lives()) continue;
      const std::optional<size_t> said = owner_by(asked, slot);
      if (!said || (owner && *said != *owner)) return false;
      owner = said;
    }
    return owner.has_value();
  });
  return *owner;
}

size_t TestCluster::wait_for_another_owner(std::string_view key, size_t before) const {
  size_t owner = before;
  wait_for("another server takes over", [&] {
    owner = owner_of(key);
    return owner != before;
  });
  return owner;
}

void TestCluster::begin_move(std::string_view key, size_t from, size_t to) {
  const std::string slot = std::to_string(slot_of(key));
  order(node(to), {"CLUSTER", "SETSLOT", slot, "IMPORTING", name_of(from)});
  order(node(from), {"CLUSTER", "SETSLOT", slot, "MIGRATING", name_of(to)});
}

void TestCluster::move_keys(const std::vector<std::string>& keys, size_t from, size_t to) {
  const std::string port = std::to_string(nodes_.at(to).port);
  for (const std::string& key : keys) order(node(from), {"MIGRATE", "127.0.0.1", port, key, "0", "5000"});
}

void TestCluster::end_move(std::string_view key, size_t to) {
  const std::string slot = std::to_string(slot_of(key)), name = name_of(to);
  order(node(to), {"CLUSTER", "SETSLOT", slot, "NODE", name});
  for (size_t i = 0; i < size(); ++i) {
    if (nodes_[i].server->lives()) order(node(i), {"CLUSTER", "SETSLOT", slot, "NODE", name});
  }
}

std::vector<std::string> TestCluster::keys_of(std::string_view key, size_t at) const {
  const std::string slot = std::to_string(slot_of(key));
  const Reply found = command(*nodes_.at(at).server, {"CLUSTER", "GETKEYSINSLOT", slot, "1000000"});
  std::vector<std::string> keys;
  for (const Reply& each : found.items) keys.push_back(each.text);
  return keys;
}

}  // namespace fq::test
