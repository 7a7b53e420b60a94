// crash_states - see the header: the book of a story, and the recovery that is held against it.
#include "tests/crash/crash_states.h"

namespace fq::test {

namespace {

/// A queue as a person sees it: by id.
struct View {
  std::string tenant, payload;
  State state{};
  uint32_t attempts = 0;
  uint32_t deliveries = 0;
  std::map<std::string, std::string> steps;  // by name: kind and bytes
  bool operator==(const View&) const = default;
};
using Views = std::map<uint64_t, View>;

std::unique_ptr<Queue> open_at(const std::string& spool, std::string& fault) {
  OpenOptions options;
  options.create = true;
  auto opened = open_queue({spool, "default"}, options);
  if (opened.ok()) return std::move(opened).value();
  fault = "cannot be opened: " + opened.error().text;
  return nullptr;
}

std::string look(Queue& queue, Views& views) {
  Cursor from;
  do {
    Result<MessagePage> page = queue.peek(Filter{}, from, 1000);
    if (!page.ok()) return "peek: " + page.error().text;
    for (const MessageInfo& each : page->messages) {
      View view{each.tenant, each.payload.value_or("(none)"), each.state, each.attempts, each.deliveries, {}};
      const auto steps = queue.steps()->list(each.id);
      if (!steps.ok()) return "steps: " + steps.error().text;
      for (const StepInfo& step : steps->value_or(std::vector<StepInfo>{}))
        view.steps[step.name] = std::string(name_of(step.kind)) + " " + std::to_string(step.bytes);
      if (!views.emplace(number(each.id), view).second) return "an id is there twice";
    }
    from = page->next;
  } while (!from.text.empty());
  return {};
}

/// A torn tail is silence: nothing told, nothing set aside.
std::string look_for_damage(Queue& queue, const std::string& spool) {
  for (const std::string& notice : queue.take_notices()) return "called damage: " + notice;
  const std::string damaged = spool + "/queues/default/damaged";
  return std::filesystem::is_empty(damaged) ? std::string() : "damaged/ is not empty";
}

std::string check(Queue& queue) {
  const Result<CheckReport> report = queue.check();
  if (!report.ok()) return "check: " + report.error().text;
  return report->findings.empty() ? std::string() : "check: " + report->findings.lines.front();
}

std::string shortened(const std::string& payload) { return "'" + payload.substr(0, 24) + "'"; }

std::string compare_with_book(const Story& story, size_t cut, const Views& views) {
  std::map<std::string, const View*> there;
  std::map<size_t, size_t> of_batch;
  uint64_t last_id = 0;
  std::map<size_t, uint64_t> ids;
  for (const auto& [id, view] : views) {
    if (!there.emplace(view.payload, &view).second) return "there twice: " + shortened(view.payload);
    const auto known = story.fates().find(view.payload);
    if (known == story.fates().end()) return "never pushed: " + shortened(view.payload);
    const Story::Fate& fate = known->second;
    if (!fate.may_be(cut))
      return (fate.gone <= cut ? "came back: " : "too early: ") + shortened(view.payload);
    if (fate.id != 0 && fate.id != id) return "has another id: " + shortened(view.payload);
    if (fate.has_state(cut) && fate.state != view.state)
      return "in another state: " + shortened(view.payload);
    if (fate.order != Story::kNever) ids[fate.order] = id;
    ++of_batch[fate.batch];
  }
  for (const auto& [order, id] : ids) {
    if (id <= last_id) return "ids are not in the order of the pushes";
    last_id = id;
  }
  std::map<size_t, size_t> batch_sizes;
  for (const auto& [payload, fate] : story.fates()) {
    if (fate.must_be(cut) && there.count(payload) == 0) return "lost: " + shortened(payload);
    if (fate.may_go > cut) ++batch_sizes[fate.batch];
  }
  for (const auto& [batch, count] : of_batch) {
    if (batch_sizes[batch] > 1 && count < batch_sizes[batch]) return "a part of a batch";
  }
  return {};
}

std::string compare_steps(const Story& story, size_t cut, const Views& views) {
  std::map<std::string, const View*> there;
  for (const auto& [id, view] : views) there[view.payload] = &view;
  for (const Story::Kept& kept : story.kept()) {
    const auto found = there.find(kept.of);
    if (kept.of.empty() || found == there.end()) continue;
    const std::string what = "step " + kept.name + " of " + shortened(kept.of);
    const bool has = found->second->steps.count(kept.name) != 0;
    if (has && kept.sent > cut) return "too early: " + what;
    if (!has && kept.told <= cut) return "lost: " + what;
    const bool ran = has && kept.child.empty() && !kept.output.empty();
    if (ran && found->second->steps.at(kept.name) != "run " + std::to_string(kept.output.size()))
      return "of another length: " + what;
    if (!kept.child.empty() && story.fates().at(kept.child).may_go > cut &&
        has != there.count(kept.child) > 0)
      return (has ? "without its message: " : "its message is there without it: ") + what;
  }
  return {};
}

std::string compare_schedules(const Story& story, size_t cut, Queue& queue) {
  for (const Story::Kept& kept : story.kept()) {
    if (!kept.of.empty()) continue;
    const auto found = queue.schedules()->get(kept.name);
    if (!found.ok()) return "schedule: " + found.error().text;
    if (*found && (kept.sent > cut || kept.gone <= cut)) return "should not be there: schedule " + kept.name;
    if (!*found && kept.told <= cut && kept.may_go > cut) return "lost: schedule " + kept.name;
  }
  return {};
}

/// What was told of a step is told again, to the byte, in the next run of its job.
std::string compare_outputs(const Story& story, size_t cut, Queue& queue) {
  if (story.kept().empty()) return {};
  const Result<LeaseReply> leased = queue.lease({.want = 1000});
  if (!leased.ok()) return "lease: " + leased.error().text;
  for (const Delivery& each : leased->deliveries) {
    const std::string payload = each.payload.read_all().value();
    for (const Story::Kept& kept : story.kept()) {
      if (kept.of != payload || kept.output.empty()) continue;
      const Result<StepBegin> begun = queue.steps()->begin(each.receipt, kept.name, nullptr);
      if (!begun.ok()) return "step: " + begun.error().text;
      const bool must_be = kept.told <= cut || kept.comes_with;
      if (must_be && !begun->output) return "would run again: step " + kept.name;
      if (begun->output && *begun->output != kept.output) return "tells otherwise: step " + kept.name;
    }
  }
  return {};
}

std::string describe(const Views& views, uint64_t id) {
  const auto found = views.find(id);
  if (found == views.end()) return "not there";
  const View& view = found->second;
  std::string steps;
  for (const auto& [name, what] : view.steps) steps += ", step " + name + " " + what;
  return view.tenant + " " + shortened(view.payload) + " " + std::string(name_of(view.state)) +
         ", attempts " + std::to_string(view.attempts) + ", deliveries " + std::to_string(view.deliveries) +
         steps;
}

std::string difference(const Views& first, const Views& second) {
  for (const Views* views : {&first, &second}) {
    for (const auto& [id, view] : *views) {
      const std::string before = describe(first, id), after = describe(second, id);
      if (before != after) return "a second recovery gives another queue: " + before + "; " + after;
    }
  }
  return {};
}

/// A push, a lease and its ack; what they change in `views`.
std::string work_on(const Story& story, size_t cut, Queue& queue, Views& views) {
  const std::string payload = "behind the cut";
  NewMessage message{.tenant = "probe", .payload = as_bytes(payload)};
  const Result<PushReply> pushed = queue.push({&message, 1});
  if (!pushed.ok()) return "push: " + pushed.error().text;
  const uint64_t id = number(pushed->items.at(0).id);
  if (id <= story.last_id(cut)) return "an id is given twice";
  views[id] = {"probe", payload, State::ready, 0, 0, {}};
  Result<LeaseReply> leased = queue.lease({});
  if (!leased.ok()) return "lease: " + leased.error().text;
  if (leased->deliveries.empty()) return "nothing can be served";
  const Delivery& delivery = leased->deliveries[0];
  const std::string& receipt = delivery.receipt.text();
  if (std::stoull(receipt.substr(receipt.find('.') + 1)) <= story.last_serial(cut))
    return "a serial is given twice";
  const auto known = views.find(number(delivery.id));
  if (known == views.end()) return "delivered, and was not there";
  if (known->second.payload != delivery.payload.read_all().value()) return "delivered with another payload";
  const Settle ack{.receipt = delivery.receipt};
  const Result<SettleReply> acked = queue.settle({&ack, 1});
  if (!acked.ok()) return "ack: " + acked.error().text;
  if (acked->items.at(0) != SettleStatus::ok) return "the ack was refused";
  views.erase(known);
  return {};
}

}  // namespace

Story::Story() : recorder_(spool_.directory()) {}

void Story::from_here() {
  for (auto& [payload, fate] : fates_) {
    for (size_t Fate::*time : {&Fate::sent, &Fate::accepted, &Fate::may_go, &Fate::gone, &Fate::state_from}) {
      if (fate.*time != kNever) fate.*time = 0;
    }
    fate.accepted = 0;
  }
  for (Kept& kept : kept_) kept.sent = kept.told = 0;
  // Times begin anew; what was told before stays told.
  for (auto* told : {&ids_, &serials_}) {
    const uint64_t last = highest(*told, kNever);
    *told = {{0, last}};
  }
  recorder_.begin();
}

uint64_t Story::highest(const std::map<size_t, uint64_t>& told, size_t cut) {
  uint64_t found = 0;
  for (const auto& [at, value] : told) {
    if (at <= cut) found = std::max(found, value);
  }
  return found;
}

std::vector<Story::Line> Story::run(const Words& words, const Start& how, const Mishap& mishap, int exit) {
  Words command = words;
  command.insert(command.begin(), fq_binary());
  const size_t start = now();
  const Outcome outcome = recorder_.run(command, spool_.with(how), mishap);
  INFO("fq " << words[0] << ": exit " << outcome.exit << " signal " << outcome.signal << ": " << outcome.err);
  ended_well_ = outcome.exit == exit;
  const bool dies = !how.env.empty() && how.env[0].starts_with("FQ_KILL_AT=");
  const bool may_fail = mishap.killed_at + mishap.failed_sync + mishap.failed_write != 0 || dies;
  REQUIRE((ended_well_ || may_fail));
  std::vector<Line> lines;
  std::string text;
  for (size_t i = start; i < now(); ++i) {
    if (recorder_.calls()[i].kind == FileCall::Kind::answer) text += recorder_.calls()[i].data;
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      lines.push_back({text.substr(0, end), i + 1});
      text.erase(0, end + 1);
    }
  }
  return lines;
}

void Story::all_so_far_accepted(size_t at) {
  for (auto& [payload, fate] : fates_) {
    if (fate.id != 0) fate.accepted = std::min(fate.accepted, at);
  }
}

void Story::push_some(const Words& words, const Start& how, const Words& payloads, const Mishap& mishap) {
  // More than one batch holds goes in several, cut where fq likes.
  const bool one_batch = how.input.size() < kBatchBytesMax / 2 && payloads.size() <= kBatchMessagesMax;
  ++batches_;
  for (const std::string& each : payloads) {
    if (!one_batch) ++batches_;
    Fate& fate = fates_[each];
    fate.sent = now();
    fate.order = ++pushes_;
    fate.batch = batches_;
  }
  const std::vector<Line> lines = run(words, how, mishap);
  const bool lazy = std::find(words.begin(), words.end(), "--lazy") != words.end();
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint64_t id = std::stoull(lines[i].text);
    fates_.at(payloads.at(i)).id = ids_[lines[i].said] = id;
    // What is durable proves all that was accepted before it.
    if (!lazy) all_so_far_accepted(lines[i].said);
  }
}

void Story::push(const std::string& payload, const Words& options, const Mishap& mishap) {
  Words words = {"push", "--file=-"};
  words.insert(words.end(), options.begin(), options.end());
  push_some(words, {.env = {}, .input = payload}, {payload}, mishap);
}

void Story::push_lines(const Words& payloads, const Words& options, const Mishap& mishap) {
  Words words = {"push", "--lines"};
  words.insert(words.end(), options.begin(), options.end());
  Start how;
  for (const std::string& each : payloads) how.input += each + "\n";
  push_some(words, how, payloads, mishap);
}

void Story::push_killed_at(const std::string& point, const std::string& payload, const Mishap& mishap) {
  push_some({"push", "--file=-"}, {.env = {"FQ_KILL_AT=" + point}, .input = payload}, {payload}, mishap);
}

void Story::pop(int count, const Mishap& mishap) {
  const std::vector<Line> lines = run({"pop", "-n", std::to_string(count)}, {}, mishap);
  for (const Line& line : lines) {
    Fate& fate = fates_.at(line.text);
    fate.may_go = std::min(fate.may_go, line.said);
    if (ended_well_) fate.gone = now();
  }
  if (ended_well_) all_so_far_accepted(now());
}

std::string Story::lease(const Mishap& mishap) {
  const std::vector<Line> lines = run({"pop", "--lease", "1h"}, {}, mishap);
  if (lines.empty()) return {};
  const std::string receipt = lines[0].text.substr(0, lines[0].text.find('\t'));
  serials_[lines[0].said] = std::stoull(receipt.substr(receipt.find('.') + 1));
  return receipt;
}

void Story::ack(const std::string& receipt, const std::string& payload, const Mishap& mishap) {
  fates_.at(payload).may_go = now();
  run({"ack", receipt}, {}, mishap);
  if (!ended_well_) return;
  fates_.at(payload).gone = now();
  all_so_far_accepted(now());
}

void Story::change(const Words& words, const std::string& payload, State state, const Mishap& mishap) {
  Fate& fate = fates_.at(payload);
  fate.state_until = now();
  run(words, {}, mishap);
  if (!ended_well_) return;
  fate.state = state;
  fate.state_from = now();
  fate.state_until = kNever;
  all_so_far_accepted(now());
}

void Story::cancel(const std::string& payload) {
  Fate& fate = fates_.at(payload);
  fate.may_go = now();
  run({"cancel", std::to_string(fate.id)}, {}, {});
  fate.gone = now();
}

void Story::remove_queue() {
  for (auto& [payload, fate] : fates_) fate.may_go = std::min(fate.may_go, now());
  run({"queue", "remove", "default", "--yes"}, {}, {});
  for (auto& [payload, fate] : fates_) fate.gone = now();
  // Another queue of the same name begins anew.
  ids_.clear();
  serials_.clear();
}

void Story::tear(const std::string& payload) {
  const std::string file = spool_.journal_files().front();
  const std::string bytes = read_whole(file);
  const size_t at = bytes.rfind(payload);
  REQUIRE(at != std::string::npos);
  write_at(file, at, "torn");
  std::filesystem::remove(spool_.queue("segment"));
  fates_.erase(payload);
}

std::string fault_of(const Story& story, size_t cut, const std::string& spool) {
  Views views;
  std::string fault;
  {
    const std::unique_ptr<Queue> queue = open_at(spool, fault);
    if (queue == nullptr) return fault;
    if (fault = look(*queue, views); !fault.empty()) return fault;
    if (fault = look_for_damage(*queue, spool); !fault.empty()) return fault;
    if (fault = compare_with_book(story, cut, views); !fault.empty()) return fault;
    if (fault = compare_steps(story, cut, views); !fault.empty()) return fault;
    if (fault = compare_schedules(story, cut, *queue); !fault.empty()) return fault;
    if (fault = work_on(story, cut, *queue, views); !fault.empty()) return "after recovery: " + fault;
  }
  // A second recovery, of what the first one made and what was done since.
  std::filesystem::remove(spool + "/queues/default/segment");
  const std::unique_ptr<Queue> queue = open_at(spool, fault);
  if (queue == nullptr) return "a second time: " + fault;
  Views again;
  if (fault = look(*queue, again); !fault.empty()) return "a second time: " + fault;
  if (fault = look_for_damage(*queue, spool); !fault.empty()) return "a second time: " + fault;
  if (fault = check(*queue); !fault.empty()) return fault;
  if (fault = difference(views, again); !fault.empty()) return fault;
  return compare_outputs(story, cut, *queue);
}

}  // namespace fq::test
