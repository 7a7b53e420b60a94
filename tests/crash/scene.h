// scene - a queue in a known state, what a process does to it through the door, and what must be true then.
//
// The table of operations prepares scenes; stepper kills the process at work in one; survivor is the next
// process, which holds what it finds against the ledger. Time stands still unless a scene moves it, so that a
// scene that is put back is the same to the last instruction.
#pragma once

// System.
#include <map>
#include <set>
#include <string>
#include <vector>
// fq, below us.
#include "core/local/shared/layout.h"
// Tests.
#include "tests/crash/stepper.h"
#include "tests/fakes/fake_clock.h"
#include "tests/process/real_fq.h"
#include "tests/shm/forked.h"

namespace fq::test {

/// What a process that may be killed sets out to do: all of it or nothing; all once it has answered.
struct Deed {
  std::set<std::string> adds;  // payloads
  std::set<std::string> ends;
  std::set<std::string> frees;               // were withheld, and are served again
  std::map<std::string, std::string> keeps;  // by payload: a step of this name
};

/// The process that works in the scene, and the one that comes after its death and may be killed as well.
enum Actor { kFirst, kSecond, kActors };

/// What the actors leave behind for the survivor, in memory that outlives them.
struct Answers {
  std::atomic<uint32_t> given[kActors];
};

struct Outgoing {
  std::string payload;
  std::string tenant;
  int64_t delay_ms = 0;
  int64_t ttl_ms = 0;
  std::string unique;
  std::string debounce;  // due after an hour
};

class Scene {
 public:
  Spool spool;
  FakeClock clock;
  std::set<std::string> must;      // accepted, unfinished: there, whatever happens
  std::set<std::string> withheld;  // of those: not to be served now (a lease of an hour, a delay)
  std::string retried;             // the payload of a message that the first actor gives back, counted
  Deed deeds[kActors];
  std::vector<std::string> receipts;

  std::unique_ptr<Queue> open();
  /// For a scene's preparation: these must succeed.
  void push(Queue& queue, const std::vector<Outgoing>& messages, Durability durability = Durability::always);
  std::vector<Delivery> lease(Queue& queue, const LeaseRequest& request);
  void settle(Queue& queue, const std::string& receipt, const Settle& verdict = {});

  /// An actor's work: the marks stand around what `work` does with a queue that was opened before.
  template <class Work>
  void act(Work&& work) {
    const std::unique_ptr<Queue> queue = open();
    begin_mark();
    answer(kFirst, work(*queue));
    end_mark();
  }
  void answer(Actor actor, bool done) { answers_->given[actor] = done ? 1 : 0; }
  bool answered(Actor actor) { return answers_->given[actor] != 0; }
  void forget_answers() {
    for (auto& each : answers_->given) each = 0;
  }

 private:
  SharedBox<Answers> answers_;
};

/// The header of a scene's segment, as anybody may look at it who changes nothing.
class SegmentView {
 public:
  explicit SegmentView(const Scene& scene);
  ~SegmentView();
  SegmentView(const SegmentView&) = delete;
  SegmentView& operator=(const SegmentView&) = delete;
  const SegmentHeader* operator->() const { return header_; }
  uint64_t room_in_file() const;

 private:
  const SegmentHeader* header_;
};

bool pushed(Queue& queue, const std::vector<Outgoing>& messages, Durability durability = Durability::always);
bool settled(Queue& queue, const Settle& verdict);

}  // namespace fq::test
