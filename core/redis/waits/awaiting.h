// awaiting - a client that waits for something else than a turn, and is told when it has come about.
//
// It has itself noted down where that may happen, looks once more, and sleeps until it is told. What it is
// not told, for whatever reason, it finds when its patience is over.
#pragma once

// System.
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/message.h"
// fq, this room.
#include "core/redis/shard/shard.h"
#include "core/redis/waits/waiting.h"

namespace fq {

/// What one waits for, as the server's program has it: see awaited.lua.
struct Awaited {
  enum class What : char { end = 'e', output = 'o', idle = 'i', event = 'l', room = 'r' };
  What what = What::end;
  std::string tenant = {};     // event, room: of this one and below; "": any
  std::string id = "0";        // end, output, event: of this message; "0": any
  std::string delivery = "0";  // output: of the run that is read; "0": none is
  bool operator==(const Awaited&) const = default;
};

/// The end of this message.
Awaited awaited_end(MessageId id);

/// Who waits for many messages looks for one of them, and now and then at all: a shard forgets how they
/// ended.
class WholeLooks {
 public:
  /// The first one is.
  bool is_due();

 private:
  std::optional<int64_t> looked_ms_;
};

class Awaiting {
 public:
  Awaiting() = default;
  ~Awaiting() { leave(); }
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;

  enum class State {
    deaf,   // not all of them are heard: look often
    anew,   // what came before is found by one more look
    heard,  // from the last look on
  };
  /// Needs: at least one; they outlive this.
  State listen(std::span<Shard* const> shards, const Awaited& what);
  State listen(Shard& shard, const Awaited& what);
  /// Between two looks: until it is told of something, or may as well look. At the latest when something is
  /// due there, as the last look told.
  Waiting::End next(Waiting& waiting, std::span<Shard* const> shards, const Awaited& what);
  Waiting::End next(Waiting& waiting, Shard& shard, const Awaited& what);
  /// It waits no more.
  void leave();

 private:
  Awaited what_;
  std::set<Shard*> noted_;  // where the server has it noted down
  int64_t looked_ms_ = 0;
};

}  // namespace fq
