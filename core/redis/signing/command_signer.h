// command_signer - signs the commands that go into a queue on a server, and tells which of those that come
// out of it are genuine: whoever may write to the server could put others there.
#pragma once

// System.
#include <memory>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/message.h"
#include "core/base/clock.h"
#include "core/base/result.h"
// fq, this room.
#include "core/redis/signing/signature.h"

namespace fq {

/// What to do where there is no key.
Error lacks_command_key(std::string_view object);

class CommandSigner {
 public:
  /// `key`: null: there is none.
  CommandSigner(std::shared_ptr<const CommandKey> key, std::string queue, Clock* clock)
      : key_(std::move(key)), queue_(std::move(queue)), clock_(clock) {}

  bool has_key() const { return key_ != nullptr; }
  /// The same for another queue.
  CommandSigner of(std::string queue) const { return {key_, std::move(queue), clock_}; }

  /// Of the message's command; "": it has none. Its age counts from when the message is due: that is as it
  /// says itself, or not before `due_wall_ms`. ErrorKind::config: there is no key.
  Result<std::string> sign(const NewMessage& message, int64_t due_wall_ms = 0) const;
  /// Of the command of all messages that its `schedule` makes.
  Result<std::string> sign_schedule(const NewMessage& message) const;
  /// For what becomes of a message whose signature is genuine: it is as old as before.
  Result<std::string> sign_again(const NewMessage& message, std::string_view signature) const;

  /// Why it is not genuine, as a reason is told; "": it is. `age_ms`: the most that it may have.
  /// Needs: a key, a message with a command.
  std::string fault(const NewMessage& message, std::string_view signature, int64_t age_ms) const;

 private:
  Result<std::string> signed_at(const NewMessage& message, Signature::Of of, int64_t at_wall_ms) const;

  std::shared_ptr<const CommandKey> key_;
  std::string queue_;
  Clock* clock_;
};

}  // namespace fq
