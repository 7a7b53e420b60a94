// crash_workloads - the stories whose every crash state is recovered: at most three operations each, what
// came before them is certain.
#include "tests/crash/crash_states.h"
// Tests.
#include "tests/crash/operations.h"
#include "tests/process/left_ring.h"

namespace fq::test {

namespace {

using Words = Story::Words;

// From the first write to the answer: the old file's sync, the new one's first record, its sync, and so on.
constexpr int kChangesOverTwoFiles = 8;

std::string large(char fill) { return std::string(100 * 1024, fill); }
std::string inline_max(char fill) { return std::string(60 * 1024, fill); }
Words many(size_t count, size_t bytes, const std::string& prefix) {
  Words payloads;
  for (size_t i = 0; i < count; ++i) {
    payloads.push_back(prefix + std::to_string(i) + "-");
    payloads.back().resize(std::max(bytes, payloads.back().size()), 'x');
  }
  return payloads;
}

/// Two messages and one that was acked, the queue at rest.
void two_there(Story& s) {
  s.push("done");
  s.pop();
  s.push("one");
  s.push("two");
  s.from_here();
}
/// A young file has half a MiB: nothing of 40 KiB fits behind this.
void nearly_full(Story& s) {
  s.push_lines(many(8, 60 * 1024, "filler"));
  s.pop(8);
  s.push("one");
  s.from_here();
}
/// Its oldest file is given back once the pin in it is acked.
std::string pinned(Story& s) {
  s.push("pin");
  const std::string receipt = s.lease();
  s.push_lines(many(9, 60 * 1024, "filler"));
  s.pop(9);
  s.push("one");
  s.from_here();
  return receipt;
}

// ---- pushes -------------------------------------------------------------------------------------

void first_push(Story& s) { s.push("first"), s.push("second"); }
void push_two(Story& s) { two_there(s), s.push("three"), s.push("four"); }
void lazy_then_durable(Story& s) { two_there(s), s.push("lazy", {"--lazy"}), s.push("three"); }
void durable_then_lazy(Story& s) { two_there(s), s.push("three"), s.push("lazy", {"--lazy"}), s.pop(); }
void lazy_only(Story& s) {
  two_there(s);
  for (const char* each : {"lazy-1", "lazy-2", "lazy-3"}) s.push(each, {"--lazy"});
}
void small_batch(Story& s) { two_there(s), s.push_lines(many(20, 40, "b")), s.push("three"); }
void batch_of_sectors(Story& s) { two_there(s), s.push_lines(many(60, 40, "b")); }
void lazy_batch(Story& s) { two_there(s), s.push_lines(many(60, 40, "b"), {"--lazy"}), s.push("three"); }
void largest_inline(Story& s) { two_there(s), s.push(inline_max('i')), s.push("three"); }
void delayed(Story& s) { two_there(s), s.push("late", {"--delay", "1h"}), s.push("three"); }
void blob(Story& s) { two_there(s), s.push(large('b')), s.push("three"); }
void blob_and_gone(Story& s) { two_there(s), s.push(large('b')), s.pop(3); }
void blob_cancelled(Story& s) { two_there(s), s.push(large('b')), s.cancel(large('b')); }

// ---- pushes over many sectors -------------------------------------------------------------------

/// Some twelve sectors of records, each message less than one: small enough for every subset of them.
Words twelve_sectors(const std::string& prefix) { return many(18, 280, prefix); }
void lazy_batches(Story& s) {
  two_there(s);
  for (const char* prefix : {"a", "b"}) s.push_lines(twelve_sectors(prefix), {"--lazy"});
  s.push("three");
}
void lazy_singles(Story& s) {
  two_there(s);
  for (const char* each : {"a", "b", "c"}) s.push(std::string(1800, *each), {"--lazy"});
}
void durable_batches(Story& s) {
  two_there(s);
  for (const char* prefix : {"a", "b"}) s.push_lines(twelve_sectors(prefix));
}
void lazy_batch_popped(Story& s) { two_there(s), s.push_lines(twelve_sectors("a"), {"--lazy"}), s.pop(3); }
void lazy_batch_unsynced_sync(Story& s) {
  two_there(s);
  s.push_lines(twelve_sectors("a"), {"--lazy"});
  s.push("three", {}, {.failed_sync = 1});
  s.push("four");
}
void batch_failed(Story& s) {
  two_there(s), s.push_lines(twelve_sectors("a"), {}, {.failed_sync = 1}), s.push("three");
}
void batch_written_in_part(Story& s) {
  two_there(s);
  s.push_lines(twelve_sectors("a"), {}, {.failed_write = 1});
  s.push("three");
}
void torn_then_lazy_batch(Story& s) {
  s.push("one");
  s.push("lazily-pushed", {"--lazy"});
  s.tear("lazily-pushed");
  s.from_here();
  s.push_lines(twelve_sectors("a"), {"--lazy"});
  s.push("two");
}
void batch_over_two_files(Story& s) {
  nearly_full(s);
  s.push_lines(many(6, 4000, "a"), {"--lazy"});
  s.push_lines(twelve_sectors("b"), {"--lazy"});
  s.push("three");
}

// ---- deliveries and verdicts --------------------------------------------------------------------

void pop_two(Story& s) { two_there(s), s.pop(), s.pop(); }
void push_pop_push(Story& s) { two_there(s), s.push("three"), s.pop(3), s.push("four"); }
void lease_and_ack(Story& s) {
  two_there(s);
  const std::string receipt = s.lease();
  s.ack(receipt, "one");
  s.push("three");
}
void verdict(Story& s, Words words, State state) {
  two_there(s);
  words.push_back(s.lease());
  s.change(words, "one", state);
}
void retry(Story& s) { verdict(s, {"retry", "--reason", "busy"}, State::ready), s.pop(); }
void retry_later(Story& s) { verdict(s, {"retry", "--delay", "1h"}, State::delayed), s.push("three"); }
void release(Story& s) { verdict(s, {"release"}, State::ready), s.push("three"); }
void bury(Story& s) { verdict(s, {"bury", "--reason", "broken"}, State::dead), s.push("three"); }
void bury_and_kick(Story& s) {
  verdict(s, {"bury"}, State::dead);
  s.change({"kick", "--all"}, "one", State::ready);
}
void extend(Story& s) {
  two_there(s);
  const std::string receipt = s.lease();
  // After the reboot the lease is void, however long it was.
  s.change({"extend", receipt, "2h"}, "one", State::ready);
}
void bury_at_length(Story& s) {
  two_there(s);
  s.change({"bury", "--reason", std::string(1000, 'r'), s.lease()}, "one", State::dead);
  s.change({"kick", "--all"}, "one", State::ready);
}
void edit(Story& s) {
  two_there(s);
  s.change({"edit", "2", "--delay", "1h", "--tag", "a=b"}, "one", State::delayed);  // "one" is the second
  s.push("three");
}
void edit_at_length(Story& s) {
  two_there(s);
  s.change({"edit", "2", "--shell", std::string(30'000, 'x')}, "one", State::ready);
  s.push("three");
}
void pop_many(Story& s) {
  s.push_lines(many(60, 20, "m"));
  s.from_here();
  s.pop(60);
  s.push("three");
}
void cancel(Story& s) { two_there(s), s.cancel("one"), s.push("three"); }

// ---- files --------------------------------------------------------------------------------------

void rotation(Story& s) { nearly_full(s), s.push(inline_max('r')), s.push("three"); }
void rotation_by_lazy(Story& s) {
  nearly_full(s);
  s.push(std::string(20 * 1024, 'a'), {"--lazy"});
  s.push(std::string(20 * 1024, 'b'), {"--lazy"});
  s.push("three");
}
void rotation_by_batches(Story& s) { nearly_full(s), s.push_lines(many(12, 50 * 1024, "m")); }
void file_given_back(Story& s) {
  const std::string receipt = pinned(s);
  s.ack(receipt, "pin");
  s.push("three");
}
void recycled_file_used(Story& s) {
  const std::string receipt = pinned(s);
  s.ack(receipt, "pin");
  s.push_lines(many(15, 60 * 1024, "m"), {"--lazy"});
  s.push("three");
}
/// The first records over those of the file's earlier life.
void lazy_over_old_records(Story& s) {
  const std::string receipt = pinned(s);
  s.ack(receipt, "pin");
  s.push_lines(many(8, 60 * 1024, "m"));
  s.pop(9);
  s.from_here();
  s.push_lines(twelve_sectors("a"), {"--lazy"});
  s.push_lines(twelve_sectors("b"), {"--lazy"});
  s.push("three");
}
void copied_forward(Story& s) {
  s.push("old", {"--delay", "1h"});
  churn(s.spool(), 3'700'000);
  // So many that an ack passes a number at which the sums are looked at.
  const uint64_t acked = s.spool().door()->stats({}).value().rows.at(0).acked;
  const int missing = static_cast<int>(128 - acked % 64);
  s.from_here();  // the recorder has not seen the churn
  s.push_lines(many(static_cast<size_t>(missing), 8000, "m"), {"--lazy"});
  s.from_here();
  s.pop(missing);
  s.push("three");
}
void queue_removed(Story& s) { two_there(s), s.remove_queue(), s.push("three"); }

// ---- failures and deaths ------------------------------------------------------------------------

void failed_sync(Story& s) { two_there(s), s.push("three", {}, {.failed_sync = 1}), s.push("four"); }
void failed_sync_of_lazy(Story& s) {
  two_there(s);
  s.push("lazy", {"--lazy"});
  s.push("three", {}, {.failed_sync = 1});
  s.push("four");
}
void failed_twice(Story& s) {
  two_there(s), s.push("three", {}, {.failed_sync = 1, .failures = 2}), s.push("four");
}
void failed_thrice(Story& s) {
  two_there(s), s.push("three", {}, {.failed_sync = 1, .failures = 9}), s.push("four");
}
void failed_write(Story& s) { two_there(s), s.push("three", {}, {.failed_write = 1}), s.push("four"); }
/// One flush ends a file and begins the next: both are synced, in order.
void flush_over_two_files(Story& s, const Mishap& mishap) {
  nearly_full(s);
  s.push(std::string(20 * 1024, 'a'), {"--lazy"});
  s.push(std::string(20 * 1024, 'b'), {}, mishap);
  s.push("three");
}
/// Its leader meets an error and is killed before it can tell: lazy bytes of its file have left the ring.
void heir_of_failed(Story& s, const char* point) {
  // Then the current file has room for all that is lazy.
  s.push_lines(many(44, 60'000, "filler"));
  s.from_here();
  for (const std::string& each : many(10, 60'000, "lazy")) s.push(each, {"--lazy"});
  REQUIRE(unsynced_left_ring(s.spool().path()));
  s.push_killed_at(point, "three", {.failed_sync = 1});
  s.push("four");
}
void leader_killed(Story& s, const char* point) {
  two_there(s);
  s.push("lazy", {"--lazy"});
  s.push_killed_at(point, "three");
  s.push("four");
}
void failed_leader_killed(Story& s, const char* point) {
  two_there(s);
  s.push_killed_at(point, "three", {.failed_sync = 1});
  s.push("four");
}
void pop_killed(Story& s, int call) { two_there(s), s.pop(2, {.killed_at = call}), s.push("three"); }
void first_push_killed(Story& s, int call) {
  s.push("first", {}, {.killed_at = call});
  s.push("second");
}
void torn_tail(Story& s) {
  s.push("one");
  s.push("lazily-pushed", {"--lazy"});
  s.tear("lazily-pushed");
  s.from_here();
  s.push("two");
  s.push("three");
}
void segment_lost(Story& s) {
  two_there(s);
  std::filesystem::remove(s.spool().queue("segment"));
  s.push("three");
  s.pop();
}

/// Those that differ by the moment of an error or a death.
std::vector<Workload> failures() {
  std::vector<Workload> all;
  all.push_back({"flush over two files, push", [](Story& s) { flush_over_two_files(s, {}); }, true});
  for (const int sync : {1, 2, 3})
    all.push_back({"flush over two files with failed sync " + std::to_string(sync),
                   [=](Story& s) { flush_over_two_files(s, {.failed_sync = sync}); }, true});
  for (int call = 1; call <= kChangesOverTwoFiles; ++call)
    all.push_back({"flush over two files, leader killed at change " + std::to_string(call),
                   [=](Story& s) { flush_over_two_files(s, {.killed_at = call}); }});
  for (const char* point : {"flush.synced:1", "salvage.ready:1", "salvage.written:1"})
    all.push_back({"lazy bytes out of the ring, failed leader killed at " + std::string(point),
                   [=](Story& s) { heir_of_failed(s, point); }});
  for (const char* point : {"flush.taken:1", "flush.written:1", "flush.syncing:1", "flush.synced:1"})
    all.push_back({"leader killed at " + std::string(point), [=](Story& s) { leader_killed(s, point); }});
  for (const char* point : {"salvage.ready:1", "salvage.written:1", "flush.synced:1"})
    all.push_back(
        {"failed leader killed at " + std::string(point), [=](Story& s) { failed_leader_killed(s, point); }});
  for (int call = 1; call <= 4; ++call)
    all.push_back({"pop killed at change " + std::to_string(call), [=](Story& s) { pop_killed(s, call); }});
  for (int call = 1; call <= 40; ++call)
    all.push_back({"first push killed at change " + std::to_string(call),
                   [=](Story& s) { first_push_killed(s, call); }});
  return all;
}

}  // namespace

std::vector<Workload> workloads() {
  std::vector<Workload> all = {
      {"first push", first_push},
      {"push, push", push_two},
      {"lazy push, push", lazy_then_durable},
      {"push, lazy push, pop", durable_then_lazy},
      {"three lazy pushes", lazy_only},
      {"batch, push", small_batch},
      {"batch over many sectors", batch_of_sectors},
      {"lazy batch, push", lazy_batch},
      {"largest inline payload, push", largest_inline},
      {"delayed push, push", delayed},
      {"large blob, push", blob},
      {"large blob, pop", blob_and_gone},
      {"large blob, cancel", blob_cancelled},
      {"two lazy batches, push", lazy_batches},
      {"three long lazy pushes", lazy_singles},
      {"two batches", durable_batches},
      {"lazy batch, pop", lazy_batch_popped},
      {"lazy batch, failed sync, push", lazy_batch_unsynced_sync},
      {"batch with failed sync, push", batch_failed},
      {"batch with failed write, push", batch_written_in_part},
      {"torn tail, lazy batch, push", torn_then_lazy_batch},
      {"lazy batches over two files, push", batch_over_two_files},
      {"pop, pop", pop_two},
      {"push, pop, push", push_pop_push},
      {"lease, ack, push", lease_and_ack},
      {"lease, retry, pop", retry},
      {"lease, retry later, push", retry_later},
      {"lease, release, push", release},
      {"lease, bury, push", bury},
      {"lease, bury, kick", bury_and_kick},
      {"lease, extend", extend},
      {"lease, bury at length, kick", bury_at_length},
      {"edit, push", edit},
      {"edit at length, push", edit_at_length},
      {"pop of many, push", pop_many},
      {"cancel, push", cancel},
      {"rotation", rotation},
      {"rotation by lazy pushes, push", rotation_by_lazy},
      {"rotation by batches", rotation_by_batches},
      {"ack gives a file back, push", file_given_back},
      {"a recycled file is used", recycled_file_used},
      {"lazy batches over old records, push", lazy_over_old_records},
      {"copied forward", copied_forward},
      {"queue removed, push", queue_removed},
      {"failed sync, push", failed_sync},
      {"lazy push, failed sync, push", failed_sync_of_lazy},
      {"sync failed twice, push", failed_twice},
      {"every sync failed, push", failed_thrice},
      {"failed write, push", failed_write},
      {"torn tail, push, push", torn_tail},
      {"segment lost, push, pop", segment_lost},
  };
  for (Workload& each : failures()) all.push_back(std::move(each));
  return with_steps(std::move(all));
}

}  // namespace fq::test
