// house_operations - commands that make the journal give files back, for the table of operations.
#include "tests/crash/operations.h"

namespace fq::test {

namespace {

/// Ten large messages of a tenant: while they live so much garbage may lie beside them that once they have
/// ended the journal is too large.
std::vector<std::string> push_large(Trial& t, const std::string& tenant) {
  std::vector<std::string> payloads;
  const std::unique_ptr<Queue> queue = t.spool.door();
  for (int i = 0; i < 10; ++i) {
    payloads.push_back(std::to_string(i) + std::string(60'000, 'p'));
    NewMessage one{.tenant = tenant, .payload = as_bytes(payloads.back())};
    REQUIRE(queue->push({&one, 1}).ok());
  }
  return payloads;
}
void give_back_file(Trial& t) {
  t.spool.push("done", "churn");
  t.spool.says({"pop"});
  t.finished = {"done"};
  // They pin the oldest file until the command acks them.
  for (const std::string& payload : push_large(t, "pin")) t.may.insert(payload);
  // Its key is held for an hour, so it is carried forward when the file goes.
  t.spool.says({"push", "-t", "keyed", "--unique", "k", "x"});
  t.spool.says({"pop", "-t", "keyed"});
  t.words = {"ack"};
  for (int i = 0; i < 10; ++i) {
    const std::string line = t.spool.says({"pop", "--lease", "1h", "-t", "pin"});
    t.words.push_back(line.substr(0, line.find('\t')));
  }
  churn(t.spool, 1'800'000);
  t.spool.push("last", "a");
  t.must = {"last"};
}
/// A journal in which one old message pins its file and, once the command has acked, almost nothing else
/// lives.
void copy_forward(Trial& t) {
  t.spool.push("old", "a");
  t.must = {"old"};
  for (const std::string& payload : push_large(t, "large")) t.may.insert(payload);
  churn(t.spool, 1'800'000);
  t.words = {"pop", "-t", "large", "-n", "10"};
}
/// What a large queue had for its journal is too much once it is empty; a setting is carried forward.
void shrink(Trial& t) {
  t.spool.push("last", "kept");
  t.spool.says({"tenant", "set", "kept", "weight=2"});
  t.must = {"last"};
  const std::unique_ptr<Queue> queue = t.spool.door();
  for (int i = 0; i < 130; ++i) {
    std::vector<std::string> payloads;
    std::vector<NewMessage> batch(3, NewMessage{.tenant = "large"});
    for (size_t k = 0; k < batch.size(); ++k) {
      payloads.push_back(std::to_string(i) + "." + std::to_string(k) + std::string(60'000, 'p'));
    }
    for (size_t k = 0; k < batch.size(); ++k) batch[k].payload = as_bytes(payloads[k]);
    REQUIRE(queue->push(batch, {.durability = Durability::lazy}).ok());
    t.may.insert(payloads.begin(), payloads.end());
  }
  t.words = {"cancel", "-t", "large"};
}

}  // namespace

std::vector<Operation> with_housekeeping(std::vector<Operation> operations) {
  const Operation house[] = {
      {"give_back_file",
       give_back_file,
       {"attach.shared", "event.appended", "event.committed", "settle.durable", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written",
        "keys.begun", "keys.carried", "compaction.low", "compaction.low_durable", "compaction.removed"}},
      {"copy_forward",
       copy_forward,
       {"attach.shared", "holder.begun", "lease.appended", "lease.committed", "event.appended",
        "event.committed", "settle.durable", "flush.applied", "flush.servable", "flush.syncing",
        "flush.synced", "flush.taken", "flush.unlocked", "flush.written", "compaction.moved"}},
      {"shrink",
       shrink,
       {"attach.shared", "event.appended", "event.committed", "flush.applied", "flush.servable",
        "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written", "policy.carried",
        "compaction.left", "compaction.low", "compaction.low_durable", "compaction.removed"}},
  };
  operations.insert(operations.end(), std::begin(house), std::end(house));
  return operations;
}

}  // namespace fq::test
