// round - something that is said to many shards now and then, to all of them at the same time.
//
// Whoever was not heard the last time comes when all others were told, and nobody is asked twice: a server
// that hangs holds up only its own shards, and one that has much that is due none: that who speaks lives it
// hears before. What is lost is made up for by the next round.
#pragma once

// System.
#include <functional>
#include <string>
#include <vector>
// fq, this room.
#include "core/redis/shard/calls_at_once.h"

namespace fq {

class Round {
 public:
  /// Of all its shards.
  explicit Round(ServerLink& link) : link_(link) {}

  /// `is_heard`: whether the server answered the last time, and then whether it does now. `hear`: its answer,
  /// also where only what is due was done: see has_more_due().
  void add(Shard& shard, std::vector<std::string> words, bool& is_heard,
           std::function<void(const Reply&)> hear = {});
  /// Once.
  void tell();

 private:
  struct Part {
    Shard& shard;
    std::vector<std::string> words;
    bool& is_heard;
    std::function<void(const Reply&)> hear;
  };
  void tell_those(const std::vector<Part*>& parts);

  ServerLink& link_;
  std::vector<Part> parts_;
};

}  // namespace fq
