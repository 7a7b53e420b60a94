// operations - every operation that changes a queue, as a command that can be killed on its way.
//
// Each says how its queue is prepared, what is run, which fault points it passes, and what must and may be
// left of the messages when it dies anywhere. Shared by the tests that kill at every point and by those
// that kill the recoverer too.
#pragma once

// System.
#include <functional>
// Tests.
#include "tests/process/real_fq.h"

namespace fq::test {

/// One operation on a queue of its own.
struct Trial {
  Spool spool;
  std::vector<std::string> words;  // of fq
  Start how;
  std::vector<std::string> wrapper;  // before fq, for what only a wrapper can do
  std::set<std::string> must;        // accepted and not finished: there, whatever happens
  std::set<std::string> may;         // may be there or not
  bool all_or_none = false;          // of `may`
  bool damaged = false;              // before it begins: check says so until a repair
  std::set<std::string> finished;    // acked before: never there again
  std::vector<Child> others;         // attached meanwhile
};

enum class Stores { some, none };  // in the segment

struct Operation {
  const char* name;
  void (*prepare)(Trial& trial);
  std::vector<const char*> points;  // that it passes; killed at each of them
  Stores stores = Stores::some;
};

const std::vector<Operation>& operations();
/// And those of groups and dead letters.
std::vector<Operation> with_groups(std::vector<Operation> operations);
/// And those of messages that are told of after their end.
std::vector<Operation> with_ended(std::vector<Operation> operations);
/// And those that keep a queue in order.
std::vector<Operation> with_care(std::vector<Operation> operations);
/// And those that make the journal give files back.
std::vector<Operation> with_housekeeping(std::vector<Operation> operations);

/// And those of schedules.
std::vector<Operation> with_schedule_commands(std::vector<Operation> operations);

/// Pushes and acks so many bytes: through the door, since thousands of processes would take long.
void churn(const Spool& spool, uint64_t bytes);

}  // namespace fq::test
