// taker - messages out: a turn each, read by the Deliverer outside the lock, sleeping while there is none.
//
// A group's messages are leased in one hold of the lock as far as kGroupRecords reaches; the rest of a larger
// one is open to others meanwhile, as if it had gathered for them too.
#pragma once

// fq, this room.
#include "core/local/consume/dead_letters.h"
#include "core/local/consume/deliverer.h"
#include "core/local/consume/lease_holder.h"

namespace fq {

/// Owns what was just taken and is not delivered yet, and the group that is being taken.
class Taker : private Linked {
 public:
  struct Needs {
    Writer& writer;
    Upkeep& upkeep;
    MessageReader& messages;
    Endings& endings;
    Resolver& resolver;
    DeadLetters& dead_letters;
    LeaseHolder& holder;
    Reaper& reaper;
    Watcher& watcher;
    Settler& settler;
  };
  Taker(Link& link, const Needs& needs);

  /// Known to others as a consumer from now on, and not only when it takes something.
  Result<void> come() { return link_.holder() ? Result<void>() : become_holder(); }
  Result<LeaseReply> lease(const LeaseRequest& request) {
    Result<LeaseReply> leased{LeaseReply()};  // made where the caller takes it
    if (Result<void> done = lease_into(request, *leased); !done.ok()) leased = std::move(done).error();
    return leased;
  }

 private:
  Result<void> lease_into(const LeaseRequest& request, LeaseReply& reply);
  bool has_something(const LeaseRequest& request, LeaseReply& reply);
  Result<void> try_lease(const LeaseRequest& request, const Now& read, LeaseReply& reply);
  void drop_behind(size_t kept);
  Result<void> become_holder();
  LeaseTerms terms_of(const LeaseRequest& request, const Now& now);
  Obstacle take_some(const LeaseRequest& request, TenantIndex from, size_t& taken, uint64_t& bytes);
  std::optional<SlotIndex> take_next(Txn& txn, const LeaseRequest& request, TenantIndex from,
                                     const LeaseTerms& terms, size_t taken, uint64_t bytes);
  std::optional<SlotIndex> take_of_group(Txn& txn, TenantIndex from, const LeaseTerms& terms,
                                         uint64_t bytes_left);
  Result<void> sleep_until_ready(const LeaseRequest& request, int64_t deadline_ms, uint32_t seen);

  Writer& writer_;
  Upkeep& upkeep_;
  Endings& endings_;
  Resolver& resolver_;
  DeadLetters& dead_letters_;
  LeaseHolder& holder_;
  Reaper& reaper_;
  Watcher& watcher_;
  Deliverer deliverer_;
  Body body_;
  std::vector<EventItem> event_items_;
  std::vector<TakenMessage> taken_;
  /// The rest of the group that is being taken.
  struct Group {
    TenantIndex leaf{};
    uint64_t left = 0;
    uint64_t segment = 0;  // in which the leaf is that
  } group_;
  int64_t lazy_since_ms_ = 0;  // when waiting began with lazy bytes about; 0: there were none
};

}  // namespace fq
