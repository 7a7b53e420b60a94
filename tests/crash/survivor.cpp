#include "tests/crash/survivor.h"

namespace fq::test {

namespace {

constexpr double kLimitMs = 1000;
constexpr size_t kLookedAtOnce = 1000;

/// In memory that the parent reads, whatever becomes of the child.
struct Report {
  bool finished;
  uint64_t recoveries;
  size_t used;
  char text[8000];

  void say(const std::string& line) {
    const size_t bytes = std::min(line.size(), sizeof text - used);
    std::memcpy(text + used, line.data(), bytes);
    used += bytes;
    if (used < sizeof text) text[used++] = '\n';
  }
};

std::string cut(const std::string& payload) { return "'" + payload.substr(0, 20) + "'"; }

class Survivor {
 public:
  Survivor(Scene& scene, Report& report) : scene_(scene), report_(report) {}

  void live() {
    go_on();
    look();
    hold_to_ledger();
    serve();
    end_all();
    report_.recoveries = queue_->stats({}).value().rows.at(0).recoveries;
    report_.finished = true;
  }

 private:
  void say(const std::string& line) { report_.say(line); }

  /// I9: the next operation needs no repair command and does not wait.
  void go_on() {
    const auto start = Clock_::now();
    queue_ = scene_.open();
    if (!pushed(*queue_, {{"probe", "probe"}})) say("I9: the next push was not accepted");
    if (ms_since(start) > kLimitMs) say("I9: the next push took " + std::to_string(ms_since(start)) + " ms");
    check();
  }

  /// I8
  void check() {
    const Result<CheckReport> report = queue_->check();
    if (!report.ok()) say("I8: no check: " + report.error().text);
    if (!report.ok()) return;
    for (const std::string& finding : report->findings.lines) say("I8: " + finding);
  }

  void look() {
    Cursor from;
    do {
      Result<MessagePage> page = queue_->peek(Filter{}, from, kLookedAtOnce);
      if (!page.ok()) return say("I1: nothing can be looked at: " + page.error().text);
      for (MessageInfo& each : page->messages) {
        const std::string payload = each.payload.value_or("(none)");
        if (!there_.emplace(payload, std::move(each)).second) say("I2: twice there: " + cut(payload));
      }
      from = page->next;
    } while (!from.text.empty());
  }

  size_t count_there(const std::set<std::string>& payloads) const {
    size_t count = 0;
    for (const std::string& each : payloads) count += there_.count(each);
    return count;
  }

  /// I1 to I4, as far as looking shows.
  void hold_to_ledger() {
    std::set<std::string> known = scene_.must;
    known.insert("probe");
    for (const std::string& each : known) {
      if (there_.count(each) == 0) say("I1: accepted and lost: " + cut(each));
    }
    for (const Actor actor : {kFirst, kSecond}) {
      const auto& [adds, ends, frees, keeps] = scene_.deeds[actor];
      const bool done = scene_.answered(actor);
      const size_t added = count_there(adds);
      if (added != adds.size() && (done || added != 0))
        say(done ? "I1: answered and lost" : "I1: a part of a batch");
      const size_t left = count_there(ends);
      if (left != 0 && (done || left != ends.size()))
        say(done ? "I4: acked and there" : "I4: a part of a batch");
      for (const auto& [payload, step] : keeps) hold_to_step(payload, step, done, added);
      known.insert(adds.begin(), adds.end());
      known.insert(ends.begin(), ends.end());
    }
    for (const auto& [payload, info] : there_) {
      if (known.count(payload) == 0) say("I2: never pushed: " + cut(payload));
      if (payload != scene_.retried) continue;
      const bool counted = info.attempts == 1 || (info.attempts == 0 && !scene_.answered(kFirst));
      if (!counted) say("I1: " + cut(payload) + " has " + std::to_string(info.attempts) + " attempts");
    }
  }

  /// What a step has pushed, if it has, is `added`.
  void hold_to_step(const std::string& payload, const std::string& name, bool done, size_t added) {
    const auto found = there_.find(payload);
    if (found == there_.end()) return;
    const auto steps = queue_->steps()->list(found->second.id);
    if (!steps.ok() || !*steps) return say("I1: the steps cannot be listed: " + cut(payload));
    const auto step = std::find_if((*steps)->begin(), (*steps)->end(),
                                   [&](const StepInfo& each) { return each.name == name; });
    const bool kept = step != (*steps)->end();
    if (done && !kept) say("I1: kept and lost: step " + name);
    const bool pushes = kept ? step->kind == StepKind::push : added != 0;
    if (pushes && kept != (added != 0)) say("I1: a step and its message are not one: step " + name);
  }

  /// I3, I5, I6, I7: what can be served is served, once, whole, in its turn.
  void serve() {
    Result<LeaseReply> reply = queue_->lease({.want = kLookedAtOnce});
    if (!reply.ok()) return say("I1: nothing is served: " + reply.error().text);
    std::map<std::string, uint64_t> last_id;
    std::set<std::string> served;
    for (const Delivery& each : reply->deliveries) {
      const std::string payload = each.payload.read_all().value();
      const auto found = there_.find(payload);
      if (found == there_.end() || found->second.id != each.id)
        say("I3: delivered, not seen: " + cut(payload));
      if (!served.insert(payload).second) say("I5: two leases: " + cut(payload));
      uint64_t& last = last_id[each.tenant];
      if (number(each.id) < last) say("I6: out of order: " + cut(payload));
      last = number(each.id);
      turns_.push_back(each.tenant.substr(0, each.tenant.find('/')));
      receipts_.push_back(each.receipt);
    }
    for (const auto& [payload, info] : there_) {
      const bool freed = scene_.answered(kFirst) && scene_.deeds[kFirst].frees.count(payload) != 0;
      const bool rests = info.state == State::dead || (scene_.withheld.count(payload) != 0 && !freed);
      if (served.count(payload) == 0 && !rests) say("I1: there, but never served: " + cut(payload));
    }
    hold_to_turns();
  }

  /// Between two turns of an account every other that has work left has one.
  void hold_to_turns() {
    const std::set<std::string> all(turns_.begin(), turns_.end());
    for (const std::string& one : all) {
      for (const std::string& other : all) {
        if (one == other) continue;
        auto left = std::count(turns_.begin(), turns_.end(), other);
        int turns = 0;
        for (const std::string& turn : turns_) {
          if (turn == other) --left, turns = 0;
          if (turn == one && ++turns > 1 && left > 0) say("I7: " + one + " takes the turn of " + other);
        }
      }
    }
  }

  /// What is acked is not delivered again.
  void end_all() {
    std::vector<Settle> acks;
    for (const Receipt& each : receipts_) acks.push_back({.receipt = each});
    const Result<SettleReply> reply = queue_->settle(acks);
    if (!reply.ok()) return say("I4: no ack: " + reply.error().text);
    for (const SettleStatus each : reply->items) {
      if (each != SettleStatus::ok) say("I4: an ack was refused");
    }
    const Result<LeaseReply> more = queue_->lease({});
    if (!more.ok() || !more->deliveries.empty()) say("I4: delivered after the ack");
  }

  Scene& scene_;
  Report& report_;
  std::unique_ptr<Queue> queue_;
  std::map<std::string, MessageInfo> there_;
  std::vector<std::string> turns_;
  std::vector<Receipt> receipts_;
};

}  // namespace

Survival survive(Scene& scene) {
  static SharedBox<Report> report;
  *report = Report{};
  Forked child([&] {
    try {
      Survivor(scene, *report).live();
    } catch (const std::exception& fault) {
      report->say(std::string("I9: the next process: ") + fault.what());
    }
  });
  const int status = child.wait();
  if (!report->finished || status != 0) {
    report->say("I9: the next process ended with " + std::to_string(status) + " (14: it hung)");
  }
  return {std::string(report->text, report->used), report->recoveries};
}

}  // namespace fq::test
