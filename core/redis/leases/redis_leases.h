// redis_leases - takes messages from a shard and gives verdicts for them.
#pragma once

// System.
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
// fq, this room.
#include "core/redis/leases/lease_words.h"
#include "core/redis/leases/redis_command_check.h"
#include "core/redis/shard/calls_at_once.h"
#include "core/redis/catalog/catalog.h"
#include "core/redis/records/records.h"
#include "core/redis/waits/awaiting.h"
#include "core/redis/shard/session.h"

namespace fq {

class RedisLeases {
 public:
  /// `mark`: of the queue, kMarkLength characters.
  RedisLeases(Shard& shard, RedisSession& session, RedisCommandCheck check, std::string mark)
      : shard_(shard), session_(session), check_(std::move(check)), mark_(std::move(mark)) {}

  Result<LeaseReply> lease(const LeaseRequest& request);
  /// Verdicts that were sent, with those of other shards: which of the calls they are.
  struct Sent {
    CallsAtOnce& calls;
    size_t call;
    unsigned bell;
  };
  /// Adds them, or the first of many, to what is to be sent.
  Result<Sent> add_to(CallsAtOnce& calls, std::span<const Settle> items);
  /// `sent`: this was done, the calls were sent.
  Result<SettleReply> settle(std::span<const Settle> items, const LeaseRequest* next,
                             const std::optional<Sent>& sent = {});
  Result<std::vector<ExtendResult>> extend(std::span<const Receipt> receipts, int64_t duration_ms);
  /// Leases that are to be longer: as far as is known before it is asked, and which of the calls asks.
  struct Extending {
    std::vector<Receipt> receipts;
    std::vector<ExtendResult> results;
    size_t call;
  };
  Extending add_to(CallsAtOnce& calls, std::span<const Receipt> receipts, int64_t duration_ms);
  /// Once, when the calls were sent.
  Result<std::vector<ExtendResult>> extend(CallsAtOnce& calls, Extending extending, int64_t duration_ms);
  /// What messages cost, beside those of other shards: in the server's units; and how many there are of which
  /// it has not said so.
  struct Paid {
    double cost = 0;
    size_t untold = 0;
  };
  /// What of the request there is now, at most `want` messages and so many bytes, beside what the reply has.
  struct Added {
    size_t count = 0;
    bool servable = false, is_idle = false;
    Paid paid = {};
  };
  /// `loans`: for it, of a queue of which it is one shard. `listens`: where it finds nothing, it is to be
  /// told of what comes, and noted down in the same call.
  Result<Added> add(const LeaseRequest& request, size_t want, uint64_t& bytes_left, LeaseReply& reply,
                    std::string_view loans, bool listens);
  Receipt receipt_of(uint64_t id, uint64_t serial, std::string_view nonce) const;
  /// The parts by which the server's program knows a lease; a fault: there is no such lease of this queue.
  struct Parts {
    SettleStatus fault = SettleStatus::ok;
    std::string id, serial, nonce;
  };
  Parts parts_of(const Receipt& receipt) const;
  /// What was buried since its command is not genuine.
  std::vector<std::string> take_notices() { return std::exchange(notices_, {}); }
  /// An answer was lost that may have given something: the next call takes that back.
  bool is_unheard() const { return is_unheard_; }
  /// What it was told of others' changes did not come to whoever asked: it is told of those again.
  void hear_again() { heard_news_.clear(); }
  /// By the last answer, what it was lent of limits over all shards: see LentRecord.
  const std::string& lent() const { return lent_; }

 private:
  /// How far a request has come.
  struct Progress {
    size_t want = 0;
    uint64_t bytes_left = 0;
    bool by_living = false;  // what it gets is held so
    bool is_answered = false;  // the last call, whatever became of what it gave
    bool is_full = false;      // and gave all that it may
    bool is_behind = false;    // before all that is due was done
    bool servable = false, is_idle = false;
    std::string_view loans = {};
    Paid paid = {};
    bool listens = false;  // where a call finds nothing, it is to be told of what comes

    bool wants_more() const { return want > 0 && is_full && bytes_left > 0; }
  };

  /// A message that was leased, and nobody may run.
  struct Unfit {
    MessageId id{};
    Receipt receipt;
    std::string reason;
  };

  std::vector<Parts> parts_of(std::span<const Settle> items) const;
  /// The server that was called last has said so.
  void note_over(const Receipt& receipt);
  static Result<ArgumentList> arguments_of(std::span<const Settle> items, std::span<const Parts> parts,
                                           std::string wanted, std::string_view tenant);
  /// One call: verdicts, and what of the request it may give; `answers`: of the verdicts that were sent.
  Result<void> work(std::span<const Settle> items, std::span<const Parts> parts, const LeaseRequest* next,
                    Progress& progress, LeaseReply& reply, std::vector<SettleStatus>& answers,
                    const Sent* sent = nullptr);
  unsigned bell_word(const Progress& progress);
  void note_lost(const Reply& lost, LeaseReply& reply);
  Result<void> add_news(const Reply& news, int64_t now_ms, LeaseReply& reply);
  Result<void> take_on(const LeaseRequest& request, Progress& progress, LeaseReply& reply);
  static void describe(const LeaseRequest& request, const Progress& progress, LeaseReply& reply);
  Heard heard() const { return {session_.holdings().heard_serial(), heard_news_}; }
  Result<std::vector<std::string>> records_of(const Reply& taken);
  Result<void> add_deliveries(const Reply& taken, LeaseReply& reply, Progress& progress);
  Delivery delivery_of(MessageId id, const MessageRecord& record) const;
  Result<void> bury_unfit(LeaseReply& reply);

  Shard& shard_;
  RedisSession& session_;
  Awaiting awaiting_;
  RedisCommandCheck check_;
  std::string mark_;
  bool is_unheard_ = false;   // an answer was lost that may have told of one
  std::vector<Unfit> unfit_;  // that are still to be buried
  std::vector<std::string> notices_;
  std::string lent_;
  std::string heard_news_;  // the last that it was told of; "": the server is to begin with the first it has
};

}  // namespace fq
