// redis_engine - queues on a Redis or Valkey server.
#pragma once

// fq, below us.
#include "core/base/descriptor.h"
#include "core/engine/engine.h"
// fq, this room.
#include "core/redis/shard/idle_link.h"
#include "core/redis/shard/library.h"
#include "core/redis/shard/shard.h"

namespace fq {

class RedisEngine final : public Engine {
 public:
  /// Where the password comes from, asked when a server is spoken to; "": there is none.
  using Password = Result<std::string> (*)();
  /// Files of TLS, likewise.
  using Tls = TlsFiles (*)();
  /// The key by which commands in messages are signed, likewise.
  using Secret = Password;
  /// `told_time`: the library takes the time from OpenOptions::clock, which only tests do.
  /// `guard_program`: calls guard() when it is run with that word, and outlives a worker: see WorkerGuard.
  constexpr RedisEngine(const Library& library, Password password, bool told_time = false, Tls tls = nullptr,
                        Secret command_key = nullptr, const char* guard_program = nullptr)
      : library_(library),
        password_(password),
        tls_(tls),
        command_key_(command_key),
        guard_program_(guard_program),
        told_time_(told_time) {}

  bool keeps(std::string_view scheme) const override;
  Result<void> check(const std::string& spool) const override;
  Result<void> check_takes_commands(const std::string& spool, std::string_view object) const override;
  Result<std::unique_ptr<Queue>> open(const Location& location, const OpenOptions& options) const override;
  Result<std::vector<std::string>> list(const std::string& spool) const override;
  Result<bool> create(const Location& location, const CreateOptions& options) const override;
  Result<void> remove(const Location& location) const override;
  Result<void> rename(const Location& location, const std::string& name) const override;
  Result<std::string> queue_marked(const std::string& spool, std::string_view mark) const override;
  Result<PolicyText> policy_text(const std::string& spool) const override;
  Result<std::string> keep_policy_text(const std::string& spool, const std::string& text,
                                       const std::optional<std::string>& if_version) const override;
  /// The server's rules for a user that works on these queues, and no more.
  Result<std::string> rights(const std::string& spool) const;
  /// Loads the server's program, for users that may not. True: it was not there.
  Result<bool> load(const std::string& spool) const;
  /// Until the worker at its other end has no more that is to be guarded.
  Result<void> guard(Descriptor socket) const;
  std::vector<DoctorRow> examine(const std::string& spool,
                                 const std::optional<std::string>& queue) const override;

 private:
  Result<ServerAccess> access_to(const std::string& spool) const;

  const Library& library_;
  Password password_;
  Tls tls_;
  Secret command_key_;
  const char* guard_program_;
  bool told_time_;
  mutable IdleLink idle_;  // on which only depends how soon the next one is reached
};

}  // namespace fq
