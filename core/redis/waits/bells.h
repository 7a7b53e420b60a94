// bells - what servers say by themselves to who waits: that there may be something.
//
// One connection more to each server, made by the first who waits. It only saves time: whoever waits looks
// once more after it was noted down to be told, and in any case when its patience is over, so what is said
// while nobody hears is found a little later.
#pragma once

// System.
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
// fq, this room.
#include "core/redis/shard/server_link.h"

namespace fq {

class Bells {
 public:
  Bells(std::shared_ptr<ServerLink> link, RedisPlace place, std::string password);

  /// From now on these channels are heard. False: not all of them are.
  bool listen(std::span<const std::string> channels);
  /// The server does not let this user be told of anything.
  bool is_refused() const { return is_refused_; }
  bool hears(const std::string& channel) const { return heard_.count(channel) == 1; }
  bool hears_all(std::span<const std::string> channels) const;
  /// Waits at most so long for any of them, or until that descriptor can be read (-1: none). True: one rang,
  /// or may have while it was not heard.
  bool wait(int64_t at_most_ms, int interrupted);
  /// Whether that one has rung since the last time.
  bool take_rung(const std::string& channel);
  bool has_rung(const std::string& channel) const { return rung_.count(channel) == 1; }

  /// That the server has noted it down to be told; it is struck out when it is told, and when it calls.
  void note(const std::string& channel) { noted_.insert(channel); }
  void strike_out(const std::string& channel) { noted_.erase(channel); }
  bool is_noted(const std::string& channel) const { return noted_.count(channel) == 1; }

 private:
  struct Line {
    std::unique_ptr<Server> server;
    std::deque<std::string> asked;  // channels whose answers have not come yet
  };
  using Lines = std::map<std::string, Line>;  // by the server's name

  /// None: it cannot be had now.
  Line* line_to(const std::string& channel);
  /// False: the line is of no use any more.
  bool read(const std::string& name, Line& line, int64_t deadline_ms);
  bool take(const std::string& name, Line& line, const Reply& reply);
  bool take_what_came(const std::string& name, Line& line);
  void take_what_came();  // on all lines
  bool take_refusal(Line& line, const std::string& refusal);
  void drop(Lines::iterator line);
  void lose(const std::string& channel);

  std::shared_ptr<ServerLink> link_;
  RedisPlace place_;
  std::string password_;
  Lines lines_;
  std::map<std::string, std::string> heard_;  // channels, and on which line
  std::set<std::string> rung_, noted_;
  bool rang_ = false;  // since the last wait
  bool is_refused_ = false;
  int64_t again_ms_ = 0;  // when it is tried again after a fault
};

}  // namespace fq
