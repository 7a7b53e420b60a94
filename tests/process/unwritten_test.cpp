// unwritten_test - on a full disk leases, releases, retries, extends and deaths are done in memory only:
// fq check knows that, and takes none of it for damage, neither then nor when there is room again. A kick is
// refused.
//
// Each thing has a message and a tenant of its own, pushed before the disk is filled. What is left of the
// journal's room is then used up by releases, so that nothing is written any more but what ends messages.

// System.
#include <functional>
// Tests.
#include "tests/left_out.h"
#include "tests/process/late_clock.h"
#include "tests/process/left_ring.h"
#include "tests/process/small_disk.h"

namespace fq::test {

namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr int kReleasesMax = 20'000;

class FullQueue {
 public:
  FullQueue() : disk_(beside_, "size=12m,nr_inodes=300"), spool_(disk_.path() + "/spool") {}

  bool possible() const { return disk_.mounted(); }
  const Spool& spool() const { return spool_; }

  MessageId push(NewMessage message, const std::string& tenant) {
    return push(std::move(message), tenant, tenant);
  }
  MessageId push(NewMessage message, const std::string& tenant, const std::string& payload) {
    message.tenant = tenant;
    message.payload = as_bytes(payload);
    const auto pushed = door().push({&message, 1});
    REQUIRE(pushed.ok());
    REQUIRE(pushed->items.at(0).status == PushStatus::accepted);
    accepted_.insert(payload);
    return pushed->items[0].id;
  }
  /// Ten are so many that the room which its end gives back is too little for their record.
  void push_behind(MessageId parent, const std::string& tenant, int count) {
    for (int i = 0; i < count; ++i) push({.after = {parent}}, tenant, tenant + std::to_string(i));
  }
  Receipt lease(const std::string& tenant, Hold hold = Hold::duration) {
    const auto leased = door().lease({.hold = hold, .hold_ms = kHourMs, .tenant = tenant});
    REQUIRE(leased.ok());
    INFO("tenant " << tenant);
    REQUIRE(leased->deliveries.size() == 1);
    return leased->deliveries[0].receipt;
  }
  void settle(const Settle& verdict, SettleStatus expected = SettleStatus::ok) {
    const auto settled = door().settle({&verdict, 1});
    REQUIRE(settled.ok());
    CHECK(settled->items.at(0) == expected);
  }
  void kick(MessageId id, Action how = Action::kick) {
    const auto kicked = door().mutate({&id, 1}, how);
    INFO((kicked.ok() ? std::string() : kicked.error().text));
    REQUIRE(kicked.ok());
    CHECK(kicked->changed == 1);
  }
  void refuse_kick(MessageId id, Action how) {
    const auto kicked = door().mutate({&id, 1}, how);
    REQUIRE_FALSE(kicked.ok());
    CHECK(kicked.error().kind == ErrorKind::later);
    CHECK(door().get(id).value()->state == State::dead);
  }
  /// Messages that are told apart by nobody.
  void push_many(const std::string& tenant, size_t count) {
    std::vector<NewMessage> messages(1'000);
    for (NewMessage& each : messages) each.tenant = tenant;
    for (size_t i = 0; i < count; i += messages.size())
      REQUIRE(door().push(messages, {.durability = Durability::lazy}).ok());
  }
  /// One by one: a record of many takes less room.
  void bury_all(const std::string& tenant) {
    for (;;) {
      const auto leased =
          door().lease({.want = 1'000, .hold = Hold::duration, .hold_ms = kHourMs, .tenant = tenant});
      REQUIRE(leased.ok());
      if (leased->deliveries.empty()) return;
      for (const Delivery& each : leased->deliveries)
        settle({.receipt = each.receipt, .verdict = Verdict::bury});
    }
  }
  StatsRow stats() { return door().stats({}).value().rows.at(0); }
  /// Somebody leases it by living, and dies.
  void lease_and_die(const std::string& tenant) {
    leave();
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);  // one that hangs ends itself
      const auto queue = open_queue({spool_.path(), "default"}, {});
      const bool leased = queue.ok() && (*queue)->lease({.tenant = tenant}).ok();
      static_cast<void>(leased && ::raise(SIGKILL) == 0);
      ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WTERMSIG(status) == SIGKILL);
    // Whoever looks for work finds the death.
    REQUIRE(door().lease({.tenant = "nobody"}).ok());
  }

  /// Until nothing but an end is written.
  void fill() {
    const auto push = [&](int n) {
      const std::string filler = std::to_string(n) + std::string(20'000, 'f');
      return spool_.fq({"push", "-t", "filler"}, {.env = {}, .input = filler}).exit == 0;
    };
    for (int n = 0; push(n);) ++n;
    disk_.fill();
    disk_.take_inodes();
    bool written = true;
    for (int i = 0; i < kReleasesMax && written; ++i) {
      const uint64_t before = journal_tail(spool_.path());
      settle({.receipt = lease("churn"), .verdict = Verdict::release});
      written = journal_tail(spool_.path()) != before;
    }
    REQUIRE_FALSE(written);
  }
  void make_room() {
    disk_.give_inodes();
    disk_.make_room();
    disk_.resize("size=40m");
    leave();  // who met the full disk does not ask again for a moment
    const uint64_t before = journal_tail(spool_.path());
    settle({.receipt = lease("churn"), .verdict = Verdict::release});
    REQUIRE(journal_tail(spool_.path()) != before);
  }

  Queue& door() {
    if (!door_) door_ = spool_.door();
    return *door_;
  }
  void leave() { door_.reset(); }
  std::set<std::string> there() const {
    std::set<std::string> payloads;
    for (const std::string& each : spool_.payloads()) {
      if (accepted_.count(each) != 0) payloads.insert(each);
    }
    return payloads;
  }
  const std::set<std::string>& accepted() const { return accepted_; }

 private:
  const Spool beside_;
  SmallDisk disk_;
  const Spool spool_;
  std::unique_ptr<Queue> door_;
  std::set<std::string> accepted_;
};

}  // namespace

TEST_CASE("fq check takes nothing for damage that a full disk left unwritten, then and afterwards") {
  FullQueue q;
  if (!q.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  for (const auto* each : {"leased", "released", "delayed", "retried", "extended", "buried", "died", "churn"})
    q.push({}, each);
  q.push({.ttl_ms = kHourMs}, "in time");
  const MessageId worn = q.push({.attempts_max = 1, .unique = "k"}, "worn");
  q.push({.after = {worn}}, "waits in vain");
  const MessageId parent = q.push({}, "parent");
  q.push_behind(parent, "freed", 10);
  const MessageId kicked = q.push({}, "kicked");
  q.settle({.receipt = q.lease("kicked"), .verdict = Verdict::bury});
  // Of what is taken on the full disk the journal does not know even that.
  const Receipt extended = q.lease("extended"), delayed = q.lease("delayed"), retried = q.lease("retried"),
                buried = q.lease("buried");
  q.fill();

  const std::pair<const char*, std::function<void()>> things[] = {
      {"lease", [&] { q.lease("leased"); }},
      {"release", [&] { q.settle({.receipt = q.lease("released"), .verdict = Verdict::release}); }},
      {"release for later",
       [&] { q.settle({.receipt = delayed, .verdict = Verdict::release, .delay_ms = kHourMs}); }},
      {"retry", [&] { q.settle({.receipt = retried, .verdict = Verdict::retry}); }},
      {"last attempt",
       [&] { q.settle({.receipt = q.lease("worn"), .verdict = Verdict::retry}, SettleStatus::buried); }},
      {"extend",
       [&] {
         CHECK(q.door().extend({&extended, 1}, 2 * kHourMs).ok());
       }},
      {"bury", [&] { q.settle({.receipt = buried, .verdict = Verdict::bury}); }},
      {"kick", [&] { q.refuse_kick(kicked, Action::kick); }},
      {"first start", [&] { q.settle({.receipt = q.lease("in time"), .verdict = Verdict::release}); }},
      {"death", [&] { q.lease_and_die("died"); }},
      {"what it came after is acked", [&] { q.settle({.receipt = q.lease("parent")}); }},
  };
  std::set<std::string> left = q.accepted();
  left.erase("parent");
  for (const auto& [name, thing] : things) {
    INFO(name << ", on the full disk");
    thing();
    q.spool().check_clean();
  }
  CHECK(q.there() == left);

  q.make_room();
  q.kick(kicked);
  q.spool().check_clean();
  for (const char* tenant : {"released", "retried", "died", "in time", "freed", "kicked"}) {
    INFO(tenant << ", with room again");
    q.settle({.receipt = q.lease(tenant), .verdict = Verdict::release});
    q.spool().check_clean();
    q.settle({.receipt = q.lease(tenant), .verdict = Verdict::retry});
    q.spool().check_clean();
  }
  // Its key is free since its last attempt, as far as memory knows.
  q.push({.unique = "k"}, "worn");
  q.spool().check_clean();
  CHECK(q.door().mutate({&worn, 1}, Action::cancel)->changed == 1);
  q.spool().check_clean();
  q.settle({.receipt = q.lease("worn")});
  left.erase("worn");
  q.spool().check_clean();
  q.leave();
  std::filesystem::remove(q.spool().queue("segment"));
  CHECK(q.there() == left);
  q.spool().check_clean();
}

TEST_CASE("a key that a full disk let go of unwritten is whose it was since, also when rebuilt") {
  FullQueue q;
  if (!q.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  q.push({}, "churn");
  const MessageId elder = q.push({.unique = "k"}, "t", "elder");
  q.settle({.receipt = q.lease("t"), .verdict = Verdict::bury});
  const MessageId holder = q.push({.attempts_max = 1, .unique = "k"}, "t", "holder");
  const Receipt held = q.lease("t");
  const bool is_behind = GENERATE(true, false);
  MessageId behind{};
  if (is_behind) behind = q.push({.unique = "k", .unique_mode = UniqueMode::after}, "t", "behind");
  q.fill();
  q.settle({.receipt = held, .verdict = Verdict::retry}, SettleStatus::buried);
  q.spool().check_clean();
  q.make_room();
  if (!is_behind) {
    q.kick(elder);  // it has the key again
    q.spool().check_clean();
    CHECK(q.door().mutate({&holder, 1}, Action::cancel)->changed == 1);
  } else {
    q.kick(holder);  // which that behind it has by now
    q.spool().check_clean();
    CHECK(q.door().edit(holder, {.priority = 1}).ok());  // its state is written
  }
  q.spool().check_clean();
  q.leave();
  std::filesystem::remove(q.spool().queue("segment"));
  NewMessage again{.tenant = "t", .unique = "k"};
  const auto pushed = q.door().push({&again, 1});
  REQUIRE(pushed.ok());
  CHECK(pushed->items.at(0).status == PushStatus::duplicate);
  CHECK(pushed->items.at(0).id == (is_behind ? behind : elder));
  q.spool().check_clean();
}

TEST_CASE(
    "on a full disk 16,384 burials are recorded, and what was buried after them is ready after a crash") {
  FullQueue q;
  if (!q.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  constexpr uint64_t kMany = 21'000;
  q.push_many("many", kMany);
  q.push({}, "churn");
  q.fill();
  const uint64_t others = q.stats().ready;
  q.bury_all("many");
  CHECK(q.stats().dead == kMany);
  q.spool().check_clean();
  q.leave();
  std::filesystem::remove(q.spool().queue("segment"));
  const StatsRow left = q.stats();
  CHECK(left.dead >= 16'384);
  CHECK(left.dead < kMany);
  CHECK(left.ready + left.dead == others);
  q.spool().check_clean();
}

TEST_CASE("a full disk refuses a kick that forgets steps, and their outputs stay") {
  FullQueue q;
  if (!q.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  q.push({}, "churn");
  const MessageId id = q.push({}, "stepped");
  const Receipt receipt = q.lease("stepped");
  const std::string output(100'000, 'o');
  REQUIRE(q.door().steps()->keep(receipt, "big", as_bytes(output)).value() == SettleStatus::ok);
  q.settle({.receipt = receipt, .verdict = Verdict::bury});
  q.fill();
  q.refuse_kick(id, Action::kick);
  q.refuse_kick(id, Action::kick_fresh);
  const auto stored = [&] { return q.door().steps()->list(id).value()->size(); };
  const auto has_output = [&] { return !std::filesystem::is_empty(q.spool().queue("blobs")); };
  CHECK(stored() == 1);
  CHECK(has_output());
  q.leave();
  std::filesystem::remove(q.spool().queue("segment"));
  q.spool().check_clean();
  CHECK(stored() == 1);
  q.make_room();
  q.kick(id, Action::kick_fresh);
  CHECK(stored() == 0);
  CHECK_FALSE(has_output());
  q.spool().check_clean();
}

TEST_CASE("a schedule whose time passed on a full disk keeps nobody from what is queued") {
  FullQueue q;
  if (!q.possible()) {
    leave_out("a small disk needs root");
    return;
  }
  q.push({}, "churn");
  q.push({}, "ready");
  ScheduleDefinition definition;
  definition.name = "hourly";
  definition.spec = "every 1h";
  definition.missed = MissedRule::skip;
  definition.message.payload = as_bytes(std::string_view("tick"));
  REQUIRE(q.door().schedules()->set(definition).ok());
  q.fill();
  q.leave();

  LateClock clock(-3 * kHourMs);
  const std::unique_ptr<Queue> later = open_behind(q.spool(), clock);
  const auto leased = later->lease({.tenant = "ready"});
  INFO((leased.ok() ? std::string() : leased.error().text));
  REQUIRE(leased.ok());
  REQUIRE(leased->deliveries.size() == 1);
  const Settle ack{.receipt = leased->deliveries[0].receipt};
  CHECK(later->settle({&ack, 1}).value().items.at(0) == SettleStatus::ok);
  CHECK(later->schedules()->get("hourly").value()->refused);
}

}  // namespace fq::test
