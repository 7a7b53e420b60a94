// operations - the table of operations: how each is prepared, and which fault points it passes.
#include "tests/crash/operations.h"

// Tests.
#include "tests/process/poisoned.h"

namespace fq::test {

namespace {

using Words = std::vector<std::string>;

/// Two tenants, four messages, and one that was acked.
void few(Trial& t) {
  t.spool.push("done", "a");
  t.spool.says({"pop"});
  t.finished = {"done"};
  for (const char* payload : {"a1", "a2"}) t.spool.push(payload, "a");
  for (const char* payload : {"b1", "b2"}) t.spool.push(payload, "b");
  t.must = {"a1", "a2", "b1", "b2"};
}

void some_may_go(Trial& t, const std::set<std::string>& payloads) {
  for (const std::string& each : payloads) t.must.erase(each);
  t.may.insert(payloads.begin(), payloads.end());
}

void push(Trial& t) { few(t), t.words = {"push", "new"}, t.may = {"new"}; }
void push_lazy(Trial& t) { few(t), t.words = {"push", "--lazy", "new"}, t.may = {"new"}; }
void push_delayed(Trial& t) { few(t), t.words = {"push", "--delay", "1h", "new"}, t.may = {"new"}; }
void push_ttl(Trial& t) { few(t), t.words = {"push", "--ttl", "1h", "new"}, t.may = {"new"}; }
void push_unique(Trial& t) { few(t), t.words = {"push", "--unique", "k", "new"}, t.may = {"new"}; }
void push_duplicate(Trial& t) {
  few(t);
  t.spool.says({"push", "--unique", "k", "first"});
  t.must.insert("first");
  t.words = {"push", "--unique", "k", "second"};
}
void debounce(Trial& t) {
  few(t);
  t.spool.says({"push", "--debounce", "k", "--quiet", "1h", "old"});
  t.words = {"push", "--debounce", "k", "--quiet", "1h", "new"};
  t.may = {"old", "new"};
}
void push_after(Trial& t) {
  few(t);
  t.words = {"push", "--after", t.spool.push("last", "b"), "new"};
  t.must.insert("last");
  t.may = {"new"};
}
/// Two wait for the message that is acked.
void ack_awaited(Trial& t) {
  few(t);
  const std::string receipt = t.spool.lease();
  const std::string id = receipt.substr(0, receipt.find('.'));
  t.spool.says({"push", "--after", id, "w1"});
  t.spool.says({"push", "--after-any", id, "w2"});
  t.must.insert({"w1", "w2"});
  t.words = {"ack", receipt};
  some_may_go(t, {"a1"});
}
void push_batch(Trial& t) {
  few(t);
  t.words = {"push", "--lines", "-t", "c"};
  t.how.input = "n1\nn2\nn3\n";
  t.may = {"n1", "n2", "n3"};
  t.all_or_none = true;
}
/// More than one transaction links.
void push_lazy_batch(Trial& t) {
  few(t);
  t.words = {"push", "--lazy", "--lines"};
  for (int i = 0; i < 300; ++i) {
    t.how.input += "m" + std::to_string(i) + "\n";
    t.may.insert("m" + std::to_string(i));
  }
  t.all_or_none = true;
}
void push_large(Trial& t) {
  few(t);
  t.words = {"push"};
  t.how.input = std::string(100 * 1024, 'x');
  t.may = {t.how.input};
}
void push_behind_lazy(Trial& t) {
  few(t);
  t.spool.says({"push", "--lazy", "lazy"});
  t.must.insert("lazy");
  t.words = {"push", "new"};
  t.may = {"new"};
}
/// Nine batches of 60 KiB lines are more than a journal file, and more than the ring.
void push_through_files(Trial& t) {
  few(t);
  t.words = {"push", "--lines"};
  for (int i = 0; i < 36; ++i) {
    const std::string line = std::to_string(i) + std::string(60 * 1024, 'x');
    t.how.input += line + "\n";
    t.may.insert(line);
  }
}
void push_thousands(Trial& t) {
  few(t);
  t.words = {"push", "--lines"};
  for (int i = 0; i < 6000; ++i) {
    t.how.input += "m" + std::to_string(i) + "\n";
    t.may.insert("m" + std::to_string(i));
  }
}
void pop(Trial& t) { few(t), t.words = {"pop"}, some_may_go(t, {"a1"}); }
void pop_three(Trial& t) { few(t), t.words = {"pop", "-n", "3"}, some_may_go(t, {"a1", "a2", "b1"}); }
void pop_lease(Trial& t) { few(t), t.words = {"pop", "--lease", "1h"}; }
void pop_behind_dead_push(Trial& t) {
  few(t);
  t.spool.fq_killed_at("push.committed:1", {"push", "orphan"});
  t.may = {"orphan"};
  for (int i = 0; i < 4; ++i) t.spool.lease();
  t.words = {"pop", "--lease", "1h"};
}

void verdict(Trial& t, Words words) {
  few(t);
  words.push_back(t.spool.lease());
  t.words = std::move(words);

}
void ack(Trial& t) { verdict(t, {"ack"}), some_may_go(t, {"a1"}); }
void retry(Trial& t) { verdict(t, {"retry"}); }
void retry_later(Trial& t) { verdict(t, {"retry", "--delay", "1h", "--reason", "busy"}); }
void release(Trial& t) { verdict(t, {"release"}); }
void bury(Trial& t) { verdict(t, {"bury", "--reason", "broken"}); }
void extend(Trial& t) {
  few(t);
  t.words = {"extend", t.spool.lease(), "2h"};
}
void kick(Trial& t) {
  few(t);
  t.spool.says({"bury", t.spool.lease()});
  t.words = {"kick", "--all"};
}
void cancel(Trial& t) {
  few(t);
  t.words = {"cancel", t.spool.push("doomed")};
  t.may = {"doomed"};
}
void edit(Trial& t) {
  few(t);
  t.spool.push("edited");
  const std::string id = t.spool.push("last");
  t.must.insert({"edited", "last"});
  t.words = {"edit", id, "-p", "5", "--ttl", "1h", "--tag", "a=b"};
}
/// A long payload takes the place of a short one: it is one or the other.
void edit_large(Trial& t) {
  few(t);
  t.how.input = std::string(100 * 1024, 'x');
  t.words = {"edit", t.spool.push("short"), "--file", "-"};
  t.may = {"short", t.how.input};
}
void cancel_large(Trial& t) {
  few(t);
  const std::string large(100 * 1024, 'x');
  t.words = {"cancel", t.spool.says({"push"}, {.env = {}, .input = large})};
  t.may = {large};
}
void due(Trial& t) {
  few(t);
  t.spool.says({"push", "--delay", "1ms", "-p", "9", "late"});
  t.must.insert("late");
  ::usleep(2'000);  // its millisecond has to be over: the pop to be killed is what finds it due
  t.words = {"pop", "--lease", "1h"};
}
void expire(Trial& t) {
  few(t);
  t.spool.says({"push", "--ttl", "1ms", "-p", "9", "late"});
  t.must.insert("late");
  ::usleep(2'000);  // likewise: it is the pop that finds it expired
  t.words = {"pop", "--lease", "1h"};
}
void lease_over(Trial& t) {
  few(t);
  t.spool.says({"pop", "--lease", "1ms"});
  ::usleep(2'000);  // likewise of the lease
  t.words = {"pop", "--lease", "1h"};
}
void pop_of_the_dead(Trial& t) {
  few(t);
  t.spool.fq_killed_at("lease.committed:1", {"pop", "-n", "2"});
  t.words = {"pop", "--lease", "1h"};
}
void after_death_inside(Trial& t) {
  few(t);
  t.spool.fq_killed_at("push.appended:1", {"push", "orphan"});
  t.may = {"orphan", "new"};
  t.words = {"push", "new"};
}
void rebuild(Trial& t) {
  few(t);
  std::filesystem::remove(t.spool.queue("segment"));
  t.words = {"push", "new"};
  t.may = {"new"};
}
/// The segment is marked as damaged while another process sleeps in it. That one wakes up, and may be the one that
/// syncs what is pushed: so where this process does that is no matter of its row, but of rebuild's.
void rebuild_beside_others(Trial& t) {
  few(t);
  t.others.push_back(t.spool.start({"pop", "--wait", "-t", "nobody"}));
  REQUIRE(t.others.back().asleep_in_futex());
  poison(t.spool);
  t.words = {"push", "new"};
  t.may = {"new"};
}

/// The first sync fails: what was written goes on in another file.
void push_with_failing_sync(Trial& t) {
  few(t);
  t.wrapper = {"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync",
               "-e",     "inject=fdatasync:error=EIO:when=1"};
  t.words = {"push", "new"};
  t.may = {"new"};
}

void limit(Trial& t) { few(t), t.words = {"tenant", "limit", "new/one", "--for", "1h"}; }
void set_scope(Trial& t) { few(t), t.words = {"queue", "set", "scope=queue"}; }
/// fq.toml has changed since anybody looked: with limits that keep nobody from being served.
void new_policy(Trial& t) {
  few(t);
  std::ofstream(t.spool.path() + "/fq.toml") << "[queue.default.tenant.\"*\"]\nconcurrency = 9\n"
                                                "[queue.default.tenant.a]\nweight = 2\nrate = \"1000/s\"\n"
                                                "pool = \"p\"\n[queue.default.pool.p]\nconcurrency = 9\n";
  t.words = {"stats"};
}
void pop_pooled(Trial& t) {
  new_policy(t);
  t.spool.says({"tenant", "set", "b", "pool=p"});
  t.words = {"pop", "--lease", "1h"};
}
/// One that has leases is no more in the file, and another is new.
void other_pools(Trial& t) {
  new_policy(t);
  t.spool.lease();
  std::ofstream(t.spool.path() + "/fq.toml") << "[queue.default.tenant.\"*\"]\npool = \"q\"\n"
                                                "[queue.default.pool.q]\nconcurrency = 9\n";
}

const std::vector<Operation> kCommandOperations = with_schedule_commands(with_housekeeping(with_care(with_ended(with_groups({
    {"push", push, {"attach.shared", "change.committed", "push.appended", "push.committed", "push.durable", "pending.applied",
        "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked",
        "flush.written", "wake.counted"}},
    {"push_lazy", push_lazy, {"attach.shared", "change.committed", "push.appended", "push.committed", "push.durable",
        "flush.written", "wake.counted"}},
    {"push_delayed", push_delayed, {"attach.shared", "push.appended", "push.committed", "push.durable",
        "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken",
        "flush.unlocked", "flush.written"}},
    {"push_ttl", push_ttl, {"attach.shared", "push.appended", "push.committed", "push.durable",
        "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken",
        "flush.unlocked", "flush.written"}},
    {"push_unique", push_unique, {"attach.shared", "secret.made", "push.appended", "push.committed",
        "push.durable", "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced",
        "flush.taken", "flush.unlocked", "flush.written"}},
    {"push_duplicate", push_duplicate, {"attach.shared", "push.durable"}, Stores::none},
    {"debounce", debounce, {"attach.shared", "replace.appended", "replace.committed", "push.durable",
        "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked",
        "flush.written"}},
    {"push_after", push_after, {"attach.shared", "push.appended", "push.committed", "push.durable",
        "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken",
        "flush.unlocked", "flush.written"}},
    {"ack_awaited", ack_awaited, {"attach.shared", "event.appended", "event.committed", "settle.durable",
        "held.decided", "held.committed", "flush.applied", "flush.servable", "flush.syncing", "flush.synced",
        "flush.taken", "flush.unlocked", "flush.written"}},
    {"push_batch", push_batch, {"attach.shared", "push.appended", "push.committed", "push.durable",
        "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken",
        "flush.unlocked", "flush.written"}},
    {"push_lazy_batch", push_lazy_batch, {"attach.shared", "push.appended", "push.committed", "push.durable",
        "pending.applied", "flush.written", "wake.counted"}},
    {"push_large", push_large, {"attach.shared", "blob.written", "push.appended", "push.committed",
        "push.durable", "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced",
        "flush.taken", "flush.unlocked", "flush.written"}},
    {"push_behind_lazy", push_behind_lazy, {"attach.shared", "push.appended", "push.committed", "push.durable",
        "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken",
        "flush.unlocked", "flush.written"}},
    {"push_through_files", push_through_files, {"attach.shared", "supply.made", "push.appended",
        "push.committed", "push.durable", "pending.applied", "flush.applied", "flush.servable",
        "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"push_thousands", push_thousands, {"attach.shared", "grow.allocated", "push.appended", "push.committed",
        "push.durable", "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced",
        "flush.taken", "flush.unlocked", "flush.written"}},
    {"pop", pop, {"attach.shared", "change.committed", "holder.begun", "lease.appended", "lease.committed", "event.appended",
        "event.committed", "settle.durable", "flush.applied", "flush.servable", "flush.syncing",
        "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"pop_three", pop_three, {"attach.shared", "holder.begun", "lease.appended", "lease.committed",
        "event.appended", "event.committed", "settle.durable", "flush.applied", "flush.servable",
        "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"pop_lease", pop_lease, {"attach.shared", "change.committed", "lease.appended", "lease.committed", "flush.written"}},
    {"pop_behind_dead_push", pop_behind_dead_push, {"attach.shared", "pending.applied", "lease.appended",
        "lease.committed", "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken",
        "flush.unlocked", "flush.written"}},
    {"ack", ack, {"attach.shared", "change.committed", "event.appended", "event.committed", "settle.durable", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"retry", retry, {"attach.shared", "change.committed", "event.appended", "event.committed", "settle.durable", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"retry_later", retry_later, {"attach.shared", "event.appended", "event.committed", "settle.durable",
        "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked",
        "flush.written"}},
    {"release", release, {"attach.shared", "event.appended", "event.committed", "settle.durable",
        "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked",
        "flush.written"}},
    {"bury", bury, {"attach.shared", "event.appended", "event.committed", "settle.durable", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"extend", extend, {"attach.shared", "event.appended", "event.committed", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"kick", kick, {"attach.shared", "event.appended", "event.committed", "flush.applied", "flush.servable",
        "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"cancel", cancel, {"attach.shared", "event.appended", "event.committed", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"cancel_large", cancel_large, {"attach.shared", "event.appended", "event.committed", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"edit", edit, {"attach.shared", "edit.appended", "change.committed", "edit.committed", "edit.durable",
        "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked",
        "flush.written"}},
    {"edit_large", edit_large, {"attach.shared", "blob.written", "edit.appended", "edit.committed",
        "edit.durable", "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken",
        "flush.unlocked", "flush.written"}},
    {"limit", limit, {"attach.shared", "policy.appended", "flush.applied", "flush.servable", "flush.syncing",
        "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"set_scope", set_scope, {"attach.shared", "policy.appended", "grow.allocated",
        "flush.synced", "flush.written"}},
    {"new_policy", new_policy, {"attach.shared", "policy.kept", "policy.pools_added", "policy.rules_added",
        "policy.switched", "policy.pools_applied", "policy.applied"}},
    {"pop_pooled", pop_pooled, {"attach.shared", "lease.appended", "lease.committed", "flush.written"}},
    {"other_pools", other_pools, {"attach.shared", "policy.pools_added", "policy.rules_added",
        "policy.switched", "policy.pools_applied", "policy.applied"}},
    {"due", due, {"attach.shared", "timers.fired", "lease.appended", "lease.committed", "flush.written",
        "wake.counted"}},
    {"expire", expire, {"attach.shared", "timers.fired", "lease.appended", "lease.committed", "flush.written",
        "wake.counted"}},
    {"lease_over", lease_over, {"attach.shared", "timers.fired", "lease.appended", "lease.committed",
        "flush.written"}},
    {"pop_of_the_dead", pop_of_the_dead, {"attach.shared", "repair.begin", "repair.counted", "repair.undone",
        "reap.freed", "reap.returned", "lease.appended", "lease.committed", "event.appended",
        "event.committed", "flush.written"}},
    {"after_death_inside", after_death_inside, {"attach.shared", "repair.begin", "repair.counted",
        "repair.undone", "push.appended", "push.committed", "push.durable", "pending.applied", "flush.applied",
        "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked", "flush.written"}},
    {"rebuild", rebuild, {"attach.shared", "rebuild.begin", "rebuild.made", "rebuild.renamed",
        "rebuild.replayed", "push.appended", "push.committed", "push.durable", "pending.applied",
        "flush.applied", "flush.servable", "flush.syncing", "flush.synced", "flush.taken", "flush.unlocked",
        "flush.written"}},
    {"rebuild_beside_others", rebuild_beside_others, {"attach.shared", "rebuild.begin", "rebuild.made",
        "rebuild.renamed", "rebuild.replayed", "rebuild.retired", "push.appended", "push.committed",
        "push.durable"}},
    {"push_with_failing_sync", push_with_failing_sync, {"attach.shared", "push.appended", "push.committed",
        "push.durable", "pending.applied", "flush.applied", "flush.servable", "flush.syncing", "flush.synced",
        "flush.taken", "flush.unlocked", "flush.written", "salvage.ready", "salvage.written"}},
})))));

}  // namespace

void churn(const Spool& spool, uint64_t bytes) {
  const std::unique_ptr<Queue> queue = spool.door();
  const std::string payload(8000, 'c');
  std::vector<NewMessage> batch(24);
  for (NewMessage& each : batch) each.payload = as_bytes(payload), each.tenant = "churn";
  for (uint64_t done = 0; done < bytes; done += batch.size() * payload.size()) {
    REQUIRE(queue->push(batch, {.durability = Durability::lazy}).ok());
    auto leased = queue->lease({.want = batch.size(), .tenant = "churn"});
    REQUIRE(leased.ok());
    std::vector<Settle> acks;
    for (const Delivery& each : leased->deliveries) acks.push_back({.receipt = each.receipt});
    REQUIRE(queue->settle(acks).ok());
  }
}

const std::vector<Operation>& operations() { return kCommandOperations; }

}  // namespace fq::test
