#include "core/redis/shard/rights.h"

// System.
#include <algorithm>
#include <set>

namespace fq {

namespace {

void add_words(std::set<std::string>& to, std::string_view words) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    to.emplace(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
}

}  // namespace

std::string_view client_commands() {
  return "exists fcall fcall_ro hexists hget hgetall hmget hset info llen rename sadd scan sismember "
         "smembers "
         "srem time unlink zrem";
}

std::string rights_of(const RedisPlace& place, const Library& library) {
  // What a function calls is held against its caller's rights, too.
  std::set<std::string> commands;
  add_words(commands, library.commands);
  add_words(commands, client_commands());
  if (place.database != 0) commands.emplace("select");
  std::string rules = "resetkeys resetchannels -@all ~" + place.key("*") + " &" + place.key("*");
  for (const std::string& command : commands) rules += " +" + command;
  rules += " +spublish +ssubscribe";  // without which who waits asks all the time
  rules += " +pubsub|shardnumsub";    // or who was killed while it waited counts as waiting
  rules += " +cluster|slots +wait";   // should it be one of a cluster, or have a replica
  return rules;
}

}  // namespace fq
