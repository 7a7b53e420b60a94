// steps_scene - a queue of n messages, and what the calls that are counted need of it.
#pragma once

// System.
#include <functional>
#include <string>
#include <vector>
// Tests.
#include "tests/local/fixture.h"

namespace fq::test {

struct Scene {
  static constexpr size_t kPage = 100;  // as the commands ask

  SpoolFixture q;
  size_t n = 0;
  std::vector<MessageId> ids;
  std::vector<Receipt> receipts;

  Queue& door() { return q.door(); }
  std::string tenant(size_t i) const { return "t" + std::to_string(i); }

  using Change = std::function<void(NewMessage& message, size_t i)>;
  /// n messages, of so many tenants.
  void push(size_t tenants, const Change& change = {}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < tenants; ++i) names.push_back(tenant(i));
    for (size_t from = 0; from < n; from += 512) {
      std::vector<NewMessage> batch;
      for (size_t i = from; i < std::min(n, from + 512); ++i) {
        batch.push_back({.tenant = names[i % tenants], .payload = as_bytes("x")});
        if (change) change(batch.back(), i);
      }
      const auto pushed = door().push(batch, {.durability = Durability::lazy});
      REQUIRE(pushed.ok());
      for (const PushResult& each : pushed->items) {
        REQUIRE(is_accepted(each.status));
        ids.push_back(each.id);
      }
    }
  }
  void lease_all(Hold hold = Hold::duration) {
    for (;;) {
      LeaseReply reply = q.lease_from(door(), {.want = 512, .hold = hold, .hold_ms = 600'000});
      if (reply.deliveries.empty()) return;
      for (Delivery& each : reply.deliveries) receipts.push_back(std::move(each.receipt));
    }
  }
  /// Whole groups, until there are at least so many.
  void lease_groups(size_t want) {
    LeaseReply reply =
        q.lease_from(door(), {.want = want, .hold = Hold::duration, .hold_ms = 600'000, .grouped = true});
    for (Delivery& each : reply.deliveries) receipts.push_back(std::move(each.receipt));
  }
  void settle_all(Verdict verdict, int64_t delay_ms = 0) {
    for (size_t from = 0; from < receipts.size(); from += 512) {
      std::vector<Settle> batch;
      for (size_t i = from; i < std::min(receipts.size(), from + 512); ++i)
        batch.push_back({.receipt = receipts[i], .verdict = verdict, .delay_ms = delay_ms, .reason = "why"});
      REQUIRE(door().settle(batch).ok());
    }
    receipts.clear();
  }
  std::string spool() const { return std::filesystem::path(q.path("../..")).lexically_normal().string(); }
  /// To another queue of the spool, as many at once as the command moves; what was on its way before is
  /// looked for.
  size_t move(std::span<const MessageId> what) {
    OpenOptions options;
    options.create = true;
    options.clock = &q.clock;
    REQUIRE(open_queue({spool(), "other"}, options).ok());
    size_t moved = 0;
    for (size_t from = 0; from < what.size(); from += 256) {
      const auto page = what.subspan(from, std::min<size_t>(256, what.size() - from));
      const MoveReply reply = door().move(page, {.to = "other", .tenant = {}}).value();
      for (const MoveResult& each : reply.items) moved += each.what == MoveResult::What::moved ? 1 : 0;
    }
    return moved;
  }
  void back_up() const {
    const std::string copy = std::filesystem::path(spool() + "/../copy").lexically_normal().string();
    REQUIRE(fq::back_up(spool(), {.directory = copy, .queue = {}, .interrupt = nullptr}).ok());
  }
  /// Renamed, and opened under that name; and back.
  void rename() {
    q.close();
    REQUIRE(rename_queue({spool(), "default"}, "renamed").ok());
    OpenOptions options;
    options.clock = &q.clock;
    REQUIRE(open_queue({spool(), "renamed"}, options).ok());
    REQUIRE(rename_queue({spool(), "renamed"}, "default").ok());
    q.reopen();
  }
  /// The queue goes with all that it has, and an empty one takes its place.
  void remove() {
    q.close();
    REQUIRE(remove_queue({spool(), "default"}).ok());
    q.reopen();
  }
  size_t peek(std::optional<State> state, size_t most, const std::string& of = {}) {
    size_t seen = 0;
    Cursor from;
    do {
      auto page = door().peek({.tenant = of, .state = state}, from, std::min(kPage, most - seen));
      REQUIRE(page.ok());
      seen += page->messages.size();
      from = page->next;
    } while (!from.text.empty() && seen < most);
    return seen;
  }
  uint64_t change(State state, Action action, const std::string& of = {}) {
    uint64_t changed = 0;
    Cursor from;
    do {
      auto reply = door().mutate({.tenant = of, .state = state}, action, from, 256);
      REQUIRE(reply.ok());
      changed += reply->changed;
      from = reply->next;
    } while (!from.text.empty());
    return changed;
  }
  void change_ids(Action action) {
    for (size_t from = 0; from < ids.size(); from += 256) {
      const size_t count = std::min<size_t>(256, ids.size() - from);
      REQUIRE(door().mutate(std::span(ids).subspan(from, count), action).ok());
    }
  }
  void set(const std::string& path, PolicyKey key, int64_t number, const std::string& text = {}) {
    REQUIRE(door().policy_set(path, {{{key, number, 0, text}}, {}}).ok());
  }
  void load(const Policy& policy, uint64_t inode) {
    FileIdentity identity;
    identity.inode = inode;
    REQUIRE(door().policy_load(policy, identity).ok());
  }
  void load_rules(uint64_t inode) {
    Policy policy{values_of({.sync = SyncMode::lazy}), {}, {}};
    for (size_t i = 0; i < n; ++i) policy.tenants.push_back({tenant(i), {{PolicyKey::weight, 3'000, 0, {}}}});
    load(policy, inode);
  }
  void load_pools(uint64_t inode) {
    Policy policy{values_of({.sync = SyncMode::lazy}), {}, {}};
    for (size_t i = 0; i < n; ++i) policy.pools.push_back({tenant(i), {{PolicyKey::concurrency, 7, 0, {}}}});
    load(policy, inode);
  }
  size_t walk_events() {
    EventRequest request;
    EventPage page;
    size_t seen = 0;
    do {
      REQUIRE(door().events(request, page).ok());
      seen += page.events.size();
      request.from = page.next;
    } while (!page.at_end);
    return seen;
  }
  size_t walk_overrides() {
    size_t seen = 0;
    Cursor from;
    do {
      auto page = door().policy_overrides(from, kPage);
      REQUIRE(page.ok());
      seen += page->overrides.size();
      from = page->next;
    } while (!from.text.empty());
    return seen;
  }
};

}  // namespace fq::test
