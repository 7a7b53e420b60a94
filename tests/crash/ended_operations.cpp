// ended_operations - what messages that are told of after their end add to the table of operations.
#include "tests/crash/operations.h"

namespace fq::test {

namespace {

/// One that is kept, and another.
void kept(Trial& t) {
  t.spool.says({"push", "-t", "a", "--keep", "1h", "a1"});
  t.spool.push("b1", "b");
  t.must = {"a1", "b1"};
}
void one_may_go(Trial& t) { t.must = {"b1"}, t.may = {"a1"}; }

void ack_kept(Trial& t) {
  kept(t);
  t.words = {"ack", t.spool.lease()};
  one_may_go(t);
}
void cancel_kept(Trial& t) {
  kept(t);
  t.words = {"cancel", "1"};
  one_may_go(t);
}
/// Its job writes more than stands in a record.
void run_kept(Trial& t) {
  kept(t);
  t.words = {"worker", "--once", "-q", "default", "--", "head", "-c", "100000", "/dev/zero"};
  one_may_go(t);
}
/// Many have had their time, some of them with outputs of their own; a few have not.
void give_back_ended(Trial& t) {
  for (int i = 0; i < 8; ++i) {
    t.spool.says(
        {"push", "--keep", i == 3 ? "1h" : "1ms", "-t", std::string(100, 'x'), "done" + std::to_string(i)});
    t.finished.insert("done" + std::to_string(i));
  }
  t.spool.says({"worker", "--drain", "--", "head", "-c", "30000", "/dev/zero"});
  ::usleep(3'000);  // their millisecond has to be over: the compaction to be killed is what finds it so
  t.spool.push("a1");
  t.must = {"a1"};
  t.words = {"compact"};
}
/// All have.
void drop_ended(Trial& t) {
  t.spool.says({"push", "--keep", "1ms", "done"});
  t.finished = {"done"};
  t.spool.says({"worker", "--drain", "--", "head", "-c", "30000", "/dev/zero"});
  ::usleep(3'000);  // likewise
  t.spool.push("a1");
  t.must = {"a1"};
  t.words = {"compact"};
}

}  // namespace

std::vector<Operation> with_ended(std::vector<Operation> operations) {
  const Operation ended[] = {
      {"ack_kept",
       ack_kept,
       {"attach.shared", "ended.written", "ended.appended", "ended.noted", "event.appended",
        "event.committed", "settle.durable", "flush.written"}},
      {"cancel_kept",
       cancel_kept,
       {"attach.shared", "ended.written", "ended.appended", "ended.noted", "event.appended",
        "event.committed", "flush.written"}},
      {"run_kept",
       run_kept,
       {"attach.shared", "output.made", "output.kept", "ended.written", "ended.appended", "ended.noted",
        "event.appended", "event.committed", "settle.durable", "flush.written"}},
      {"give_back_ended",
       give_back_ended,
       {"attach.shared", "ended.file_started", "ended.written", "ended.moved", "ended.file_dropped"},
       Stores::none},
      {"drop_ended",
       drop_ended,
       {"attach.shared", "ended.file_started", "ended.outputs_dropped", "ended.file_dropped"},
       Stores::none},
  };
  operations.insert(operations.end(), std::begin(ended), std::end(ended));
  return operations;
}

}  // namespace fq::test
