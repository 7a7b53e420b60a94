// server - one connection to one server, greeted and looked at: commands in, replies out, in order.
#pragma once

// System.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/result.h"
// fq, this room.
#include "core/redis/wire/redis_place.h"
#include "core/redis/wire/reply.h"
#include "core/redis/wire/wire.h"

namespace fq {

using Words = std::span<const std::string_view>;

class Server {
 public:
  /// One that can be relied on: of version 7, which drops no key when its memory is full, and a master, or of
  /// a cluster, whose servers tell which of them has a key.
  static Result<std::unique_ptr<Server>> open(const RedisPlace& place, const std::string& password);

  const std::string& name() const { return wire_.name(); }
  /// Another one when it was started anew or another server has taken over.
  const std::string& run_id() const { return run_id_; }
  bool is_cluster() const { return is_cluster_; }
  /// What it said of itself when it was met, as INFO names it; "": nothing.
  std::string_view told(std::string_view name) const;
  /// What its answers mean.
  Level level() const { return level_; }
  /// Of a strict one: its appendfsync is always. False: it is its administrator's word.
  bool says_fsync() const { return says_fsync_; }
  /// Also where an answer did not come: it may still, and would be taken for that to what is asked next.
  bool is_over() { return is_lost_ || wire_.is_over(); }
  int64_t call_ms() const { return call_ms_; }
  /// False: there is nothing to be heard from it, or it is a replica by now, which refuses changes and
  /// answers all else from what it has. It is asked now and then; of a cluster others tell, and a socket
  /// leads nowhere else.
  bool is_still_usable();

  /// Adds a command that the next call sends, with others; its reply has to be received, too.
  void add(Words words);
  /// Sends what was added, and waits for nothing. An Error: as of receive().
  Result<void> send();
  /// Sends what was added and waits for the first reply. A refusal of the server is a Reply, too; an Error:
  /// the outcome of all that was added is unknown, and the connection is of no more use.
  Result<Reply> receive();
  /// Until then; what has come already is received in any case.
  Result<Reply> receive(int64_t deadline_ms);
  /// Adds the question whether a replica has what was changed by this connection. Behind the changes: the
  /// server counts from the last command. `is_vital`: who asks waits for it even where it was in vain lately.
  /// False: it is not asked, since none is to have it, or is waited for.
  Result<bool> add_copy_wait(bool is_vital);
  /// Waits for the answer to that.
  Result<bool> receive_copy();
  /// What comes by itself, on a connection that is asked for nothing else; none: nothing did until then.
  Result<std::optional<Reply>> hear(int64_t deadline_ms);
  /// Which can be read when something comes.
  int descriptor() const { return wire_.descriptor(); }
  Result<Reply> call(Words words) {
    add(words);
    return receive();
  }

 private:
  Server(Wire wire, const RedisPlace& place)
      : wire_(std::move(wire)),
        call_ms_(place.call_ms),
        greet_ms_(std::min(place.connect_ms, place.call_ms)),
        asked_level_(place.level),
        has_hosts_(!place.hosts.empty()) {}
  static Result<std::unique_ptr<Server>> try_host(const RedisPlace& place, const RedisPlace::Host* host,
                                                  const std::string& password);
  Result<Reply> greet(Words words);
  Result<Reply> receive_next(int64_t deadline_ms);
  Result<void> log_in(const RedisPlace& place, const std::string& password);
  Result<void> read_info();
  void set_level(std::string_view info);
  Result<void> look_for_replica();
  Result<void> read_replication();
  Result<void> check_strict();
  Result<void> choose_database(uint32_t database);

  Wire wire_;
  int64_t call_ms_, greet_ms_;
  std::optional<Level> asked_level_;
  bool has_hosts_;
  ReplyParser parser_;
  std::string out_, in_;
  std::string run_id_, info_;
  bool is_cluster_ = false;
  bool is_replica_ = false;
  bool is_lost_ = false;
  bool says_fsync_ = false;
  Level level_ = Level::async;
  int64_t lags_until_ms_ = 0;   // its replicas, as far as is known
  int64_t alone_until_ms_ = 0;  // likewise, where it has none
  int64_t sure_until_ms_ = 0;   // likewise, that it is a master
};

}  // namespace fq
