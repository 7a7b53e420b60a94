// shard - the keys of a queue that lie together, and the functions that are called on them.
#pragma once

// System.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/away.h"
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/shard/function_call.h"
#include "core/redis/shard/library.h"
#include "core/redis/shard/patience.h"
#include "core/redis/shard/server_link.h"
#include "core/redis/signing/command_key.h"
#include "core/redis/wire/answer.h"
#include "core/redis/wire/server.h"

namespace fq {

/// What the server's clock said in a call, by its reply: see pace.lua for how the shard's time differs.
inline int64_t clock_in(const Reply& reply) { return reply.at(0).at(7).number; }

/// What is due comes before what is asked for: with more of it than one call does, nothing else was done.
inline bool has_more_due(const Reply& reply) { return reply.at(0).at(2).number == 1; }

/// It was done with more of that left: see kDueMs.
inline bool is_behind(const Reply& reply) { return reply.at(0).at(2).number == 2; }

/// Chosen. What is due comes before a call, 64 timers in one, some 30 s for a million. Who pushes, gives a
/// verdict or comes for what is ready waits so long, and does its share of them meanwhile; then it is served,
/// and by the next calls as much again is done.
inline constexpr int64_t kDueMs = 100;

/// Chosen. Who wants what only the rest of it can bring, or looks, waits on, and is told only where more
/// comes due all the time than servers do.
inline constexpr int64_t kDueMsMax = 120'000;

/// In one reply: with the longest payloads 32 MiB, half of what a reply may have.
inline constexpr size_t kMessagesPerCall = 64;

/// Of one call.
inline constexpr size_t kIdsPerCall = 1024;

class Bells;
class Doubt;
class MoveTarget;
class Renewer;

/// Another queue of the place, by name.
using OpenMoveTarget = std::function<Result<std::unique_ptr<MoveTarget>>(const std::string& queue)>;

/// A link by which it is said that sessions live, and nothing else: whatever its URL allows, it waits for no
/// server so long that the others end a session of which they hear nothing meanwhile.
std::shared_ptr<ServerLink> link_for_signs(RedisPlace place, const std::string& password);

/// What the shards of one queue have together.
struct SharedAccess {
  std::shared_ptr<ServerLink> beside;  // for other threads than the queue's
  std::shared_ptr<ServerLink> signs;   // see link_for_signs()
  std::shared_ptr<Renewer> renewer;
  std::string nonce;  // of the session
};

/// How a server is reached, and with which program.
struct ServerAccess {
  RedisPlace place;
  std::string password;
  std::string spool = {};               // the URL that the place comes from
  const char* guard_program = nullptr;  // see WorkerGuard; none: there is none
  std::string queue = {};               // whose it is; "": of none, or of another one
  const Library* library = nullptr;
  Clock* told_time = nullptr;  // of a library that is told the time: of tests
  std::shared_ptr<ServerLink> link;
  AwayList* away = nullptr;                         // of who asks: see OpenOptions
  std::shared_ptr<const SharedAccess> shared = {};  // none: it is of a queue of one shard
  std::shared_ptr<const CommandKey> command_key = {};
  std::shared_ptr<Bells> bells = {};                       // none: who waits looks often
  std::shared_ptr<const OpenMoveTarget> open_target = {};  // none: it is one that others are moved into

  /// The time, where a test tells it.
  std::optional<int64_t> told_ms() const {
    return told_time == nullptr ? std::nullopt : std::optional(told_time->boot_ms());
  }

  /// By which a client tells the time itself.
  Clock* clock() const { return told_time == nullptr ? &system_clock() : told_time; }

  /// For calls of another thread than the queue's.
  ServerAccess beside() const {
    return by(shared ? shared->beside : std::make_shared<ServerLink>(place, password));
  }
  /// For the thread that says that a session lives.
  ServerAccess for_signs() const { return by(shared ? shared->signs : link_for_signs(place, password)); }

 private:
  ServerAccess by(std::shared_ptr<ServerLink> other) const {
    ServerAccess access = *this;
    access.bells.reset();
    access.link = std::move(other);
    return access;
  }
};

/// Lends shards of a queue what they lack of limits that count over all of them.
class RoomLender {
 public:
  virtual ~RoomLender() = default;

  /// A call was refused for it, and is made again after this; `times`: so often it was made already. An
  /// Error: that is what the caller is told.
  virtual Result<void> make_room(const Lack& lack, int times) = 0;
  /// A call has used more than its shard was lent, which nobody may refuse.
  virtual Result<void> count_anew() = 0;
};

/// Which server has all of the shard.
Result<std::string> owner_of(ServerLink& link, const std::string& tag);

class Shard {
 public:
  /// Where the connection is cut before an answer came: whether the call may be made once more. That it was
  /// done nobody is denied: see doubt.h.
  enum class Lost { is_unknown, is_repeated };

  /// `nonce`: of the session that calls.
  Shard(ServerAccess access, std::string tag, std::string nonce)
      : access_(std::move(access)), tag_(std::move(tag)), nonce_(std::move(nonce)) {}

  /// Changes something, after all that is due: `head` of the reply is its first item. `first`: of the same
  /// call. `is_lazy`: no replica is waited for.
  Result<Reply> change(std::string_view function, const std::vector<std::string_view>& arguments,
                       Lost lost = Lost::is_unknown, FirstTry* first = nullptr, bool is_lazy = false);
  /// The words of the second try, where they are others; of the caller's until the call is over.
  using Again = std::function<Result<Words>()>;
  Result<Reply> change(std::string_view function, const std::vector<std::string_view>& arguments,
                       const Again& again, FirstTry* first = nullptr);
  /// Likewise by one call, which waits for nothing that is due: see has_more_due().
  Result<Reply> change_once(std::string_view function, const std::vector<std::string_view>& arguments,
                            FirstTry* first = nullptr);
  /// To be sent with those of other shards; `is_lazy`: likewise.
  Result<FunctionCall> prepare(std::string_view function, const std::vector<std::string_view>& arguments,
                               bool is_lazy = false);
  /// Changes something of this one and of another, by its tag, at once.
  Result<Reply> change_both(const std::string& other, std::string_view function,
                            const std::vector<std::string_view>& arguments);
  /// Shows what is there when all that is due has been done.
  Result<Reply> look(const std::vector<std::string_view>& arguments);
  /// Until nothing is said here it shows all as if it had been lent what it lacks of limits that count over
  /// all shards, but for these, of which nobody has anything.
  void show_as_lent(std::optional<std::vector<std::string>> full) { full_ = std::move(full); }

  /// Sets the function that makes the messages of schedules which are due, as the server's program says.
  void when_schedules_are_due(std::function<Result<void>()> run) { run_schedules_ = std::move(run); }

  /// Sets the function that brings to their end the messages which somebody has left on their way to another
  /// queue, likewise.
  void when_crossings_are_due(std::function<Result<void>()> finish) { finish_crossings_ = std::move(finish); }

  /// None: it is the only shard of its queue.
  void is_lent_room_by(std::unique_ptr<RoomLender> lender) { lender_ = std::move(lender); }

  /// Commands that only look at its keys, in one go; none is asked again.
  std::vector<Result<Reply>> read(const std::vector<std::vector<std::string>>& commands) {
    return access_.link->ask(commands);
  }
  std::optional<int64_t> told_ms() const { return access_.told_ms(); }
  /// Does what is due and nothing else: all of it, or as much as one call does.
  Result<Reply> tick();
  Result<Reply> tick_once();
  /// A page of the names of all its keys, without their tag; `cursor` is "0" at the begin and at the end.
  Result<std::vector<std::string>> keys(std::string& cursor);
  /// Of the policy that is kept for all queues of the place.
  Result<std::string> policy_version();
  const std::string& tag() const { return tag_; }
  /// As notices say it.
  std::string object() const;
  const std::string& nonce() const { return nonce_; }
  /// Of the server that was called last, its run_id.
  const std::string& server_run() const { return server_run_; }
  /// So long who waits looks at nothing, should it be told of nothing.
  int64_t patience_ms() const { return access_.place.poll_ms; }
  /// The same of who waits for work, of so many as were there when it was last looked.
  int64_t look_ms() const { return Patience(patience_ms(), kReadsASecond).ms(waiters_); }
  void note_waiters(uint64_t count) { waiters_ = count; }
  Bells* bells() const { return access_.bells.get(); }
  /// The channel on which this session hears of what there is.
  std::string bell() const { return tag_ + "bell:" + nonce_; }
  /// The same, of what else it waits for: see awaited.lua.
  std::string news() const { return tag_ + "news:" + nonce_; }
  /// It waits for no work any more, of this tenant or, "", of any.
  void listens_no_more(std::string_view tenant);
  /// By which all its commands go, and those of the other shards of its queue.
  ServerLink& link() const { return *access_.link; }
  /// From the last look on, until time changes something here; none: nothing is known.
  std::optional<int64_t> due_in_ms() const { return due_in_ms_; }
  /// Its queue has others, which lend each other what limits over all of them allow.
  bool is_lent_room() const { return lender_ != nullptr; }
  /// What its answers mean.
  std::string_view level() const;
  /// The same for all that call the same shard.
  std::string place() const;

  /// A wall time of the server's, and the other way round.
  int64_t wall_of(int64_t server_ms) const { return std::min(server_ms + wall_ahead_ms(), kLatestMs); }
  int64_t server_of(int64_t wall_ms) const {
    return std::clamp(wall_ms, -kLatestMs, kLatestMs) - wall_ahead_ms();
  }

 private:
  int64_t wall_ahead_ms() const;
  Result<void> see_to_schedules(const Reply& reply);
  bool see_to_crossings(const Reply& reply);
  void note_use(const Reply& reply);
  /// One of several tries: how it is sent, and what came of the first where that was sent already.
  struct Call {
    std::string_view function;
    Words arguments;
    Lost lost;
    std::string other = {};  // the tag of another shard that is called, too; "": none
    FirstTry* first = nullptr;
    Again again = {};  // none: the same
    bool is_lazy = false;
    bool hurries = false;  // it has waited for what is due: see kDueMs
  };
  Result<Reply> change(Call call);
  /// Until nothing is due before it.
  Result<Reply> change_at_last(Call& call, Doubt& doubt);
  /// Before what is due is done. `seen_to`: whether the client's part of that is.
  Result<Reply> change_now(Call& call, Doubt& doubt, Result<void>& seen_to);
  /// Calls it, again where it lacked room and was lent some.
  Result<Reply> call_with_room(Call& call, Doubt& doubt);
  Result<Reply> call(Call& call, Doubt& doubt);
  Result<Reply> call_once(const Call& call);
  FunctionCall function_call(const Call& call);
  Result<void> tell_time();
  Error named(Error error);
  Result<bool> is_of_its_queue();

  ServerAccess access_;
  std::string tag_;  // of its keys: "fq1:PREFIX:{...}:"
  std::string nonce_, server_run_;
  std::function<Result<void>()> run_schedules_;     // of the object that makes their messages
  std::function<Result<void>()> finish_crossings_;  // likewise
  std::unique_ptr<RoomLender> lender_;
  std::optional<std::vector<std::string>> full_;
  std::optional<int64_t> due_in_ms_;
  uint64_t waiters_ = 0;
};

}  // namespace fq
