// nodes - the servers that have the keys of a place: one, or the masters of a cluster, each with its slots.
//
// Whether it is a cluster the server says that is met first. What servers say of each other is used only as
// far as it reads as an address.
#pragma once

// System.
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "core/redis/wire/server.h"
#include "core/redis/wire/slots.h"

namespace fq {

class Nodes {
 public:
  Nodes(RedisPlace place, std::string password) : place_(std::move(place)), password_(std::move(password)) {}

  /// The one that has this key, as far as is known.
  Result<std::shared_ptr<Server>> of_key(std::string_view key);
  Result<std::shared_ptr<Server>> any();
  /// Where one more connection to the one that has this key leads.
  Result<RedisPlace> place_of_key(std::string_view key);
  /// All that have keys.
  Result<std::vector<std::shared_ptr<Server>>> masters();
  /// Each of them, or why it cannot be reached.
  Result<void> visit_masters(const std::function<Result<void>(Result<std::shared_ptr<Server>>)>& visit);
  /// Of a cluster, those that nobody has.
  Result<uint32_t> unserved_slots();
  /// False until a server was met.
  bool is_cluster() const { return is_cluster_; }

  /// Whatever comes on it now may be the answer to what was asked before.
  void drop(const std::shared_ptr<Server>& server);
  /// As a refusal says it: "MOVED SLOT HOST:PORT".
  void note_moved(std::string_view refusal, const Server& by);
  /// Who has what is to be asked anew.
  void forget() { is_known_ = false; }
  /// Likewise, and of another one: by the word of who was asked last this one has the key, and it says that
  /// its cluster is down.
  void doubt(const Server& owner);

 private:
  /// Of who was tried in vain: the fault is told again, without a new try, for a while.
  struct Absence {
    std::optional<Error> fault = {};
    int64_t until_ms = 0;

    /// `times`: so many times as long as the try took, at least `least_ms`.
    void begin(Error why, int64_t begin_ms, int64_t times, int64_t least_ms);
    bool lasts() const;
  };
  struct Node {
    std::shared_ptr<Server> server;
    Absence absence = {};
    uint64_t doubted = 0;  // when what it says was found wrong last, as the count of all such; 0: never
  };
  Result<void> learn();
  /// By one that knows of any server that has slots.
  Result<void> learn_masters();
  Result<std::shared_ptr<Server>> teller();
  void take_slots(const Reply& ranges, const std::string& asked);
  /// Those that have slots, and the seeds.
  std::set<std::string> known_names() const;
  void doubt(const std::string& name);
  Result<std::shared_ptr<Server>> at(const std::string& name);
  Result<std::shared_ptr<Server>> owner_at(uint16_t owner);
  RedisPlace place_at(const std::string& name) const;
  static std::shared_ptr<Server> connected(Node& node);
  void take_range(const Reply& range, const std::string& asked);
  /// An index of `names_`, and one more; 0: there are too many.
  uint16_t index_of(const std::string& name);

  RedisPlace place_;
  std::string password_;
  bool is_cluster_ = false;
  bool is_known_ = false;  // who has what
  int64_t learned_ms_ = -1'000'000;
  std::string told_by_;  // who said last who has what
  uint64_t doubts_ = 0;
  Absence all_absent_;  // no server of the place was reached
  std::map<std::string, Node> nodes_;
  std::vector<std::string> names_;           // of those that have slots, or were told of since that was asked
  std::array<uint16_t, kSlots> owner_ = {};  // by slot, one more than the index; 0: nobody
};

}  // namespace fq
