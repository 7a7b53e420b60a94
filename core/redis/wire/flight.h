// flight - calls that are on their way at the same time, to one server or to many: all are sent before any is
// answered.
//
// Each is sent once. What is lost of one server's answers is no matter of the others'.
#pragma once

// System.
#include <memory>
#include <optional>
#include <string_view>
#include <vector>
// fq, this room.
#include "core/redis/wire/server.h"

namespace fq {

class Flight {
 public:
  /// The call's number; they are counted from 0. Nothing else is asked of the server until all is over.
  size_t add(const std::shared_ptr<Server>& server, Words words);
  /// Sends all, and waits for what is answered: a server that says nothing is given the time of one call,
  /// from when all were sent, and one that is slow the longer the more it was asked.
  void exchange();
  /// Asks each server that has accepted something whether a replica has it, all of them before any answers.
  void ask_for_copies(bool is_vital);

  /// Or a refusal; an Error: the outcome is unknown.
  Result<Reply>& reply(size_t call) { return calls_[call].reply; }
  /// Where one is to have what was accepted; likewise.
  bool has_copy(size_t call) const { return servers_[calls_[call].server].has_copy; }
  /// Whose connections are of no more use.
  std::vector<std::shared_ptr<Server>> lost() const;

 private:
  struct Asked {
    std::shared_ptr<Server> server;
    int64_t calls = 0;
    int64_t heard_ms = 0;  // or sent
    bool has_accepted = false, is_asked = false, has_copy = true;
    std::optional<Error> fault = {};
  };
  /// Until when the next answer of this one has to come, where all were sent then.
  static int64_t deadline_ms(const Asked& asked, int64_t sent_ms);
  struct Call {
    size_t server;
    Result<Reply> reply = Reply();
  };

  std::vector<Asked> servers_;
  std::vector<Call> calls_;
};

}  // namespace fq
