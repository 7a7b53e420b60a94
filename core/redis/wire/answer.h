// answer - the meaning of a server's refusal for the caller: one table of its words.
#pragma once

// System.
#include <optional>
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/error.h"

namespace fq {

/// `refusal`: the text of an error reply; `server`: from which, `command`: to which.
Error error_of_refusal(const std::string& server, std::string_view command, std::string_view refusal);

/// A server did not answer, or has no time: others may. Who was told to end asks no others.
bool is_away(const Error& error);

/// What is in the way is this queue's, which the server's program does not name.
Error of_queue(Error error, const std::string& queue);

/// What a server has is of another schema than ours; whose it is begins the text.
Error other_schema(std::string_view there, std::string_view known);

/// The queue is not where it was called.
bool says_missing(const Error& error);
/// The same of one that is there: of this shard its server has lost the key that everything begins with, or a
/// part of it.
Error lost_root(Error missing, const std::string& root, const std::string& queue);
bool says_lost_root(const Error& error);
/// Which server that is.
std::string server_of_lost_root(const Error& error);

/// The server is there and answers soon: it loads its data, or runs somebody's script.
bool says_occupied(const Error& error);

/// It was a push, and a limit of messages or bytes is in the way: an end makes room.
bool says_full(const Error& error);
/// The push is more than a limit by itself: waiting for room is of no use.
bool says_never_fits(const Error& error);

/// Of a limit of the whole queue that counts over its shards: what the shard of a push lacks for it.
struct Lack {
  std::string what;  // "messages" or "bytes"
  double lacks = 0;  // so many were not lent to it
  double came = 0;   // with the push
  double most = 0;   // in all shards
};
/// None: it is another error.
std::optional<Lack> lack_in(const Error& error);
/// All shards together have none for it; so much is `there`, as far as they tell.
Error full_over_shards(const Lack& lack, double there);

/// This function is not there: the library has to be loaded.
bool lacks_library(std::string_view refusal);

}  // namespace fq
