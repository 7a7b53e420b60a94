// story_steps - what a story tells of steps and schedules: see crash_states.h.
#include "tests/crash/crash_states.h"

namespace fq::test {

Story::Kept& Story::begin_step(const std::string& receipt, const std::string& payload, Words& words,
                               Start& how) {
  how.env = {"FQ_RECEIPT=" + receipt};
  words.insert(words.begin(), "step");
  for (Kept& each : kept_) {
    if (each.of == payload && each.name == words[1]) return each;
  }
  kept_.push_back({.of = payload, .name = words[1], .output = {}, .child = {}, .sent = now()});
  return kept_.back();
}

void Story::step(const std::string& receipt, const std::string& payload, Words words, const Mishap& mishap) {
  Start how;
  Kept& kept = begin_step(receipt, payload, words, how);
  std::string output;
  for (const Line& line : run(words, how, mishap)) {
    output += line.text + "\n";
    if (kept.told == kNever) kept.told = line.said;
  }
  if (kept.output.empty()) kept.output = output;
  REQUIRE((output == kept.output || !ended_well_));
  if (ended_well_) all_so_far_accepted(now());
}

void Story::pause(const std::string& receipt, const std::string& payload, Words words, State state) {
  constexpr int kLater = 75;
  Start how;
  Kept& kept = begin_step(receipt, payload, words, how);
  Fate& fate = fates_.at(payload);
  fate.state_until = now();
  run(words, how, {}, kLater);
  kept.told = now();
  fate.state = state;
  fate.state_from = now();
  fate.state_until = kNever;
  all_so_far_accepted(now());
}

void Story::push_in_step(const std::string& receipt, const std::string& payload, const std::string& name,
                         const std::string& child) {
  Words words = {name, "--push", child};
  Start how;
  Kept& kept = begin_step(receipt, payload, words, how);
  kept.child = child;
  push_some(words, how, {child}, {});
  kept.told = fates_.at(child).accepted;
}

void Story::comes_with_step(const std::string& payload, const std::string& name, const std::string& output) {
  kept_.push_back(
      {.of = payload, .name = name, .output = output, .child = {}, .sent = now(), .comes_with = true});
}

void Story::import(const std::string& lines, const Words& payloads, const Mishap& mishap) {
  for (const std::string& each : payloads) {
    Fate& fate = fates_[each];
    if (fate.sent != kNever) continue;
    fate.sent = now();
    fate.order = ++pushes_;
    fate.batch = ++batches_;
  }
  const std::vector<Line> told = run({"import", "-"}, {.env = {}, .input = lines}, mishap);
  for (size_t i = 0; i < told.size(); ++i) {
    const std::string& payload = payloads.at(i);
    Fate& fate = fates_.at(payload);
    fate.id = ids_[told[i].said] = std::stoull(told[i].text.substr(told[i].text.find(' ') + 1));
    for (Kept& kept : kept_) {
      if (kept.comes_with && kept.of == payload) kept.told = std::min(kept.told, told[i].said);
    }
    all_so_far_accepted(told[i].said);
  }
}

void Story::set_schedule(const std::string& name, const std::string& payload) {
  kept_.push_back({.of = {}, .name = name, .output = {}, .child = {}, .sent = now()});
  run({"schedule", "set", name, "every 1h", payload}, {}, {});
  kept_.back().told = now();
  all_so_far_accepted(now());
}

void Story::remove_schedule(const std::string& name) {
  for (Kept& kept : kept_) {
    if (kept.of.empty() && kept.name == name) kept.may_go = now();
  }
  run({"schedule", "remove", name}, {}, {});
  for (Kept& kept : kept_) {
    if (kept.of.empty() && kept.name == name) kept.gone = now();
  }
}

void Story::is_due(const std::string& payload) {
  Fate& fate = fates_[payload];
  fate.sent = fate.accepted = now();
  fate.order = kNever;
  fate.batch = ++batches_;
}

}  // namespace fq::test
