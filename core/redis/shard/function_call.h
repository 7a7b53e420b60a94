// function_call - a call of a function of the server's program, which is loaded where a server lacks it.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, this room.
#include "core/redis/shard/library.h"
#include "core/redis/shard/server_link.h"

namespace fq {

/// A call of a function of the server's program, for as often as it is sent. What its arguments are made of
/// is the caller's.
class FunctionCall {
 public:
  /// `is_lazy`: no replica is waited for, whatever it does.
  FunctionCall(const Library& library, std::string_view name, std::vector<std::string> keys,
               ServerLink::MakeWords arguments, bool is_lazy = false);
  /// One of a shard, whose reply begins with a head: see calls.lua.
  FunctionCall with_head() &&;

  const Library& library() const { return library_; }
  /// Of anything else it cannot be told that there is nothing.
  bool is_answer(const Reply& reply) const;
  std::string_view name() const { return name_; }
  std::string_view key() const { return keys_.front(); }
  /// Who has to have what it changes before that is told.
  ServerLink::Copy copy() const;
  std::vector<std::string_view> words(const Server& server) const;

 private:
  const Library& library_;
  std::string_view name_;
  std::string function_, key_count_;
  std::vector<std::string> keys_;
  ServerLink::MakeWords arguments_;
  bool is_lazy_;
  bool has_head_ = false;
};

/// What came of a call that was sent with others; none: it is still to be sent.
using FirstTry = std::optional<ServerLink::Try>;

/// Calls a function on the server that has its keys. The library is loaded where it is missing.
Result<Reply> call_function(ServerLink& link, const FunctionCall& call, FirstTry* first = nullptr);
Result<Reply> call_function(ServerLink& link, const Library& library, std::string_view name, Words keys,
                            Words arguments);

/// True: it was not there.
Result<bool> load_library(Server& server, const Library& library);

}  // namespace fq
