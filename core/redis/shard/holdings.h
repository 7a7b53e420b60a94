// holdings - what a session has on one shard, as its client knows: messages held by living, runs whose output
// it writes, calls that it waits for.
//
// A server that takes over without its last writes may have more of a session: what it has given back, and
// the word of that died with the other server. Nothing else would ever end that while the session lives.
// Therefore each server is told once what there is, and again when another one has heard of an end since.
#pragma once

// System.
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace fq {

/// Ends are noted with the server that has answered so, as its run_id; "": none has.
class Holdings {
 public:
  /// Those of a shard count its leases, so that a later one has a higher serial.
  void note_lease(uint64_t id, uint64_t serial, bool by_living);
  uint64_t heard_serial() const;
  void end_lease(uint64_t id, uint64_t serial, const std::string& by);
  /// Before a server is told of it, and when it knows that it is over. What begins waits while it is told
  /// what there is: that would deny it.
  void begin_run(const std::string& name);
  void end_run(const std::string& name, const std::string& by);
  void begin_call(const std::string& number);
  void end_call(const std::string& number, const std::string& by);

  /// Whether this server knows all that there is.
  bool is_told(const std::string& server) const;
  /// As the server's program reads it.
  struct Words {
    std::string heard_serial, leases, runs, calls;
  };
  Words begin_telling();
  /// Once for each. `server`: that has heard it; "": none has.
  void end_telling(const std::string& server);

 private:
  void begin(std::set<std::string>& list, const std::string& what);

  mutable std::mutex mutex_;
  std::condition_variable is_over_;
  bool is_telling_ = false;
  uint64_t heard_serial_ = 0;            // of the last lease that an answer told us of
  std::map<uint64_t, uint64_t> leases_;  // the serial of each, by its id
  std::set<std::string> runs_, calls_;
  std::optional<std::string> told_;  // the server that was told last
  std::set<std::string> heard_;      // those that have heard of an end since that began
};

}  // namespace fq
