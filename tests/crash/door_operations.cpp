#include "tests/crash/door_operations.h"

namespace fq::test {

namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr uint64_t kChurnBytes = 8'000;

/// Two tenants, four messages, and one that was acked.
void few(Scene& s) {
  const std::unique_ptr<Queue> queue = s.open();
  REQUIRE(pushed(*queue, {{"done", "a"}}));
  s.settle(*queue, s.lease(*queue, {}).at(0).receipt.text());
  s.push(*queue, {{"a1", "a"}});
  s.push(*queue, {{"b1", "b"}, {"a2", "a"}, {"b2", "b"}});
}

/// One of them is leased, so that it can be settled.
void few_and_a_lease(Scene& s) {
  few(s);
  const std::unique_ptr<Queue> queue = s.open();
  const std::vector<Delivery> leased = s.lease(*queue, {.hold = Hold::duration, .hold_ms = kHourMs});
  s.receipts = {leased[0].receipt.text()};
}

void to_push(Scene& s) { few(s), s.deeds[kFirst].adds = {"new"}; }
void push(Scene& s) {
  s.act([](Queue& queue) { return pushed(queue, {{"new", "n"}}); });
}
void push_lazy(Scene& s) {
  s.act([](Queue& queue) { return pushed(queue, {{"new", "a"}}, Durability::lazy); });
}
void push_later(Scene& s) {
  s.act([](Queue& queue) { return pushed(queue, {{"new", "a", kHourMs}}); });
}
void to_push_later(Scene& s) { to_push(s), s.withheld = {"new"}; }
void to_push_batch(Scene& s) { few(s), s.deeds[kFirst].adds = {"n1", "n2", "n3"}; }
void push_batch(Scene& s) {
  s.act([](Queue& queue) { return pushed(queue, {{"n1", "a"}, {"n2", "n"}, {"n3", "n/deep"}}); });
}
void push_lazy_batch(Scene& s) {
  s.act([](Queue& queue) {
    return pushed(queue, {{"n1", "a"}, {"n2", "n"}, {"n3", "n/deep"}}, Durability::lazy);
  });
}

bool leased(Queue& queue, const LeaseRequest& request) {
  const Result<LeaseReply> reply = queue.lease(request);
  return reply.ok() && reply->deliveries.size() == request.want;
}
/// By this process: it dies with its leases, and they come back.
void lease(Scene& s) {
  s.act([](Queue& queue) { return leased(queue, {.want = 2}); });
}

/// Of both tenants: what dies with them comes back.
void lease_group(Scene& s) {
  s.act([](Queue& queue) {
    const Result<LeaseReply> reply = queue.lease({.want = 3, .grouped = true});
    return reply.ok() && reply->deliveries.size() == 4;
  });
}

void settle(Scene& s, Settle verdict) {
  verdict.receipt = Receipt(s.receipts[0]);
  s.act([&](Queue& queue) { return settled(queue, verdict); });
}
void to_ack(Scene& s) {
  few_and_a_lease(s);
  s.must.erase("a1");
  s.withheld = s.deeds[kFirst].ends = {"a1"};
}
void ack(Scene& s) { settle(s, {}); }
void to_give_back(Scene& s) { few_and_a_lease(s), s.withheld = s.deeds[kFirst].frees = {"a1"}; }
void to_retry(Scene& s) { to_give_back(s), s.retried = "a1"; }
void to_retry_later(Scene& s) { to_retry(s), s.deeds[kFirst].frees.clear(); }
void to_bury(Scene& s) { few_and_a_lease(s), s.withheld = {"a1"}; }
void retry(Scene& s) { settle(s, {.verdict = Verdict::retry, .reason = "busy"}); }
void retry_later(Scene& s) { settle(s, {.verdict = Verdict::retry, .delay_ms = kHourMs}); }
void release(Scene& s) { settle(s, {.verdict = Verdict::release}); }
void bury(Scene& s) { settle(s, {.verdict = Verdict::bury, .reason = "broken"}); }

void to_fire_delay(Scene& s) {
  few(s);
  s.push(*s.open(), {{"l1", "a", 2}, {"l2", "late", 1}, {"l3", "late", 2}});
  s.clock.advance(5);
}
void push_ttl(Scene& s) {
  s.act([](Queue& queue) { return pushed(queue, {{"new", "a", 0, kHourMs}}); });
}
/// The first key of a queue.
void push_unique(Scene& s) {
  s.act([](Queue& queue) { return pushed(queue, {{"new", "a", 0, 0, "k"}}); });
}
/// Beside one that its message holds and one whose message was acked.
void to_push_second_key(Scene& s) {
  to_push(s);
  s.push(*s.open(), {{"first", "a", 0, 0, "first"}, {"gone", "a", 0, 0, "gone"}});
  const std::unique_ptr<Queue> queue = s.open();
  for (const Delivery& each : s.lease(*queue, {.want = 6, .hold = Hold::duration, .hold_ms = kHourMs})) {
    if (each.payload.read_all().value() != "gone") continue;
    s.settle(*queue, each.receipt.text());
    s.must.erase("gone");
  }
  s.withheld = s.must;
}
void ack_unique(Scene& s) { settle(s, {}); }
void to_ack_unique(Scene& s) {
  few(s);
  const std::unique_ptr<Queue> queue = s.open();
  s.push(*queue, {{"keyed", "z", 0, 0, "k"}});
  const std::vector<Delivery> leased =
      s.lease(*queue, {.hold = Hold::duration, .hold_ms = kHourMs, .tenant = "z"});
  s.receipts = {leased.at(0).receipt.text()};
  s.must.erase("keyed");
  s.withheld = s.deeds[kFirst].ends = {"keyed"};
}
void to_debounce(Scene& s) {
  few(s);
  s.push(*s.open(), {{"old", "d", 0, 0, "", "k"}});
  s.must.erase("old");
  s.deeds[kFirst].adds = {"new"};
  s.deeds[kFirst].ends = {"old"};
  s.withheld = {"new", "old"};
}
void debounce(Scene& s) {
  s.act([](Queue& queue) { return pushed(queue, {{"new", "d", 0, 0, "", "k"}}); });
}
/// Three wait for the message that is acked: two for it alone, one for another too.
void to_ack_awaited(Scene& s) {
  to_ack(s);
  const std::unique_ptr<Queue> queue = s.open();
  s.push(*queue, {{"later", "w", kHourMs}});
  s.withheld.insert("later");
  const MessageId first{2}, other{6};
  for (const auto& [payload, after] :
       {std::pair{"w1", std::vector{first}}, {"w2", {first}}, {"w3", {first, other}}}) {
    NewMessage message{.tenant = "w", .payload = as_bytes(std::string_view(payload))};
    message.after = after;
    REQUIRE(queue->push({&message, 1}).ok());
    s.must.insert(payload);
    s.withheld.insert(payload);
  }
  s.deeds[kFirst].frees = {"w1", "w2"};
}
void to_expire(Scene& s) {
  few(s);
  s.push(*s.open(), {{"e1", "a", 0, 2}, {"e2", "late", 1, 1}, {"e3", "late", 0, 1}});
  s.clock.advance(5);
}
void to_end_lease(Scene& s) {
  few(s);
  s.lease(*s.open(), {.want = 3, .hold = Hold::duration, .hold_ms = 1});
  s.clock.advance(5);
}
void to_reap(Scene& s) {
  few(s);
  Forked dead([&] { s.open().release()->lease({.want = 2}).ok(); });
  REQUIRE(dead.wait() == 0);
}

/// Messages that come and go, until this much has gone through the journal.
void churn(Scene& s, Queue& queue, uint64_t bytes) {
  const std::string payload(kChurnBytes, 'c');
  const uint64_t until = SegmentView(s)->tail + bytes;
  while (SegmentView(s)->tail < until) {
    REQUIRE(pushed(queue, {{payload, "churn"}}, Durability::lazy));
    s.settle(queue, s.lease(queue, {.tenant = "churn"}).at(0).receipt.text());
  }
}
/// The next message goes to the next journal file.
void to_rotate(Scene& s) {
  few(s);
  const std::unique_ptr<Queue> queue = s.open();
  churn(s, *queue, SegmentView(s).room_in_file() - 3 * kChurnBytes);
  const std::string filler(SegmentView(s).room_in_file() - 200, 'f');
  s.push(*queue, {{filler, "a"}});
  REQUIRE(SegmentView(s).room_in_file() < 100);
  s.deeds[kFirst].adds = {"new"};
}
/// And this one finds no file ready behind the current one.
void to_make_file(Scene& s) {
  to_rotate(s);
  s.push(*s.open(), {{"before", "a"}});
  const SegmentView seen(s);
  REQUIRE(seen->current_file == seen->newest_file);
}
/// The oldest file holds nothing any more once the message is acked that pins it.
void to_drop_file(Scene& s) {
  few_and_a_lease(s);
  const std::unique_ptr<Queue> queue = s.open();
  for (const Delivery& each : s.lease(*queue, {.want = 3})) s.settle(*queue, each.receipt.text());
  s.must.clear();
  s.withheld = s.deeds[kFirst].ends = {"a1"};
  churn(s, *queue, SegmentView(s).room_in_file());
  s.push(*queue, {{"last", "a"}});
}
/// A journal that is too large once the messages are acked that the first process has: an old one pins it.
void to_copy_forward(Scene& s) {
  few(s);
  const std::unique_ptr<Queue> queue = s.open();
  for (int i = 0; i < 10; ++i) {
    const std::string large = std::to_string(i) + std::string(60'000, 'l');
    REQUIRE(pushed(*queue, {{large, "large"}}));
    s.withheld.insert(large);
  }
  s.deeds[kFirst].ends = s.withheld;
  for (const Delivery& each :
       s.lease(*queue, {.want = 10, .hold = Hold::duration, .hold_ms = kHourMs, .tenant = "large"})) {
    s.receipts.push_back(each.receipt.text());
  }
  churn(s, *queue, 1'800'000);
  const SegmentView seen(s);
  REQUIRE(seen->files[seen->oldest_file % kJournalFilesMax].live > 0);
}
void ack_all_and_maintain(Scene& s) {
  std::vector<Settle> acks;
  for (const std::string& receipt : s.receipts) acks.push_back({.receipt = {receipt}});
  s.act([&](Queue& queue) {
    const auto settled = queue.settle(acks);
    return settled.ok() && queue.maintain(0).ok();
  });
}
/// Of a tenant that is not there yet: what the others have to serve stays as it is.
void limit(Scene& s) {
  s.act([](Queue& queue) { return queue.policy_set("new/one", limited_for(kHourMs)).ok(); });
}

/// Rules for some that are there, one of whom gets a limit that changes nobody's turn.
void load_policy(Scene& s) {
  s.act([](Queue& queue) {
    FileIdentity identity;
    identity.inode = 7;
    const PolicyValues many{{PolicyKey::concurrency, 99, 0, {}}, {PolicyKey::max_messages, 9'999, 0, {}}};
    const Policy policy{many, {{"*", many}, {"a", many}, {"late-*", {{PolicyKey::rate, 1, 1'000, {}}}}}, {}};
    return queue.policy_load(policy, identity).ok();
  });
}
void to_load_policy(Scene& s) {
  few(s);
  FileIdentity identity;
  identity.inode = 6;
  const Policy before{{}, {{"b", {{PolicyKey::concurrency, 50, 0, {}}}}}, {}};
  REQUIRE(s.open()->policy_load(before, identity).ok());
}

/// It keeps its place, so that the others are served as ever.
void to_edit(Scene& s) {
  few(s);
  s.must.erase("b1");
  s.deeds[kFirst].adds = {"edited"};
  s.deeds[kFirst].ends = {"b1"};
}
void edit(Scene& s) {
  s.act([](Queue& queue) {
    MessagePatch patch;
    patch.payload = as_bytes("edited");
    patch.tags = {{"by", "hand"}};
    const Result<SettleStatus> done = queue.edit(MessageId{3}, patch);  // few() pushes b1 as the third
    return done.ok() && *done == SettleStatus::ok;
  });
}

void attach(Scene& s) {
  begin_mark();
  s.answer(kFirst, s.open().release() != nullptr);
  end_mark();
}
void detach(Scene& s) {
  std::unique_ptr<Queue> queue = s.open();
  leased(*queue, {.want = 2});
  begin_mark();
  queue.reset();
  s.answer(kFirst, true);
  end_mark();
}
void to_rebuild(Scene& s) {
  few_and_a_lease(s);
  s.withheld = {"a1"};
  std::filesystem::remove(s.spool.queue("segment"));
}

const std::vector<DoorOperation> kDoorOperations = {
    {"push", to_push, push, Short::kills_and_pairs},
    {"push_lazy", to_push, push_lazy},
    {"push_later", to_push_later, push_later, Short::nothing},
    {"push_ttl", to_push, push_ttl, Short::nothing},
    {"push_unique", to_push, push_unique},
    {"push_second_key", to_push_second_key, push_unique, Short::nothing},
    {"ack_unique", to_ack_unique, ack_unique, Short::nothing},
    {"debounce", to_debounce, debounce},
    {"ack_awaited", to_ack_awaited, ack},
    {"push_batch", to_push_batch, push_batch},
    {"push_lazy_batch", to_push_batch, push_lazy_batch},
    {"lease", few, lease, Short::kills_and_pairs},
    {"lease_group", few, lease_group},
    {"ack", to_ack, ack, Short::kills_and_pairs},
    {"retry", to_retry, retry},
    {"retry_later", to_retry_later, retry_later, Short::nothing},
    {"release", to_give_back, release},
    {"bury", to_bury, bury},
    {"delay_fire", to_fire_delay, lease},
    {"expire", to_expire, lease},
    {"lease_expiry", to_end_lease, lease},
    {"reap", to_reap, lease, Short::nothing},
    {"rotate", to_rotate, push, Short::kills_and_pairs},
    {"make_file", to_make_file, push},
    {"drop_file", to_drop_file, ack},
    {"copy_forward", to_copy_forward, ack_all_and_maintain},
    {"edit", to_edit, edit},
    {"limit", few, limit},
    {"load_policy", to_load_policy, load_policy, Short::nothing},
    {"attach", few, attach},
    {"detach", few, detach},
    {"rebuild", to_rebuild, attach, Short::nothing},
};

}  // namespace

const std::vector<DoorOperation>& door_operations() {
  static const std::vector<DoorOperation> all = with_steps(with_schedules(kDoorOperations));
  return all;
}

void act_second(Scene& scene) {
  begin_mark();
  Queue* queue = scene.open().release();
  scene.answer(kSecond, pushed(*queue, {{"second", "s"}}));
  leased(*queue, {.want = 1});
  end_mark();
}

}  // namespace fq::test
