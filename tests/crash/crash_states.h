// crash_states - short stories of a queue, and what every disk that a power cut may leave of them must hold.
//
// A story runs commands under a Recorder and keeps book of each message: since when it may be there, since
// when it must be, since when it may be gone and when it must be. Times are numbers of recorded calls, so a
// cut before call k is judged by what had been answered until then.
#pragma once

// System.
#include <cstddef>
#include <functional>
// Tests.
#include "tests/crash/recorder.h"

namespace fq::test {

class Story {
 public:
  using Words = std::vector<std::string>;
  static constexpr size_t kNever = SIZE_MAX;

  /// One message, by its payload.
  struct Fate {
    size_t sent = kNever;      // may be there from then on
    size_t accepted = kNever;  // must be there
    size_t may_go = kNever;    // need not be there any more
    size_t gone = kNever;      // must not
    uint64_t id = 0;           // as answered
    size_t order = 0;          // of its push
    size_t batch = 0;
    State state{};
    size_t state_from = kNever;
    size_t state_until = kNever;

    bool must_be(size_t cut) const { return accepted <= cut && may_go > cut; }
    bool may_be(size_t cut) const { return sent <= cut && gone > cut; }
    bool has_state(size_t cut) const { return state_from <= cut && cut < state_until; }
  };

  /// A step or a schedule, by its name.
  struct Kept {
    std::string of, name;     // payload of the step's message; of a schedule ""
    std::string output;       // of a step that ran
    std::string child;        // payload that a step has pushed
    size_t sent = kNever;     // may be there from then on
    size_t told = kNever;     // must be there
    size_t may_go = kNever;   // a schedule: need not be there any more
    size_t gone = kNever;     // must not
    bool comes_with = false;  // its message is not served without it
  };

  Story();

  /// All before this is certain: cuts come behind it.
  void from_here();
  /// Tears the last record of the journal apart, as a power cut may; `payload` was in it, lazily.
  void tear(const std::string& payload);

  // Verbs. Each is one command; a mishap may keep it from ending well.
  void push(const std::string& payload, const Words& options = {}, const Mishap& mishap = {});
  void push_lines(const Words& payloads, const Words& options = {}, const Mishap& mishap = {});
  void pop(int count = 1, const Mishap& mishap = {});
  std::string lease(const Mishap& mishap = {});
  void ack(const std::string& receipt, const std::string& payload, const Mishap& mishap = {});
  /// A verdict or a change after which the message is in `state`.
  void change(const Words& words, const std::string& payload, State state, const Mishap& mishap = {});
  void cancel(const std::string& payload);
  void remove_queue();
  /// Of the job that has this receipt: `words` follow `fq step`.
  void step(const std::string& receipt, const std::string& payload, Words words, const Mishap& mishap = {});
  /// One that gives the message back: it is in `state` then.
  void pause(const std::string& receipt, const std::string& payload, Words words, State state);
  void push_in_step(const std::string& receipt, const std::string& payload, const std::string& name,
                    const std::string& child);
  /// What is imported next has this step.
  void comes_with_step(const std::string& payload, const std::string& name, const std::string& output);
  /// Lines of an export, with messages of these payloads.
  void import(const std::string& lines, const Words& payloads, const Mishap& mishap = {});
  void set_schedule(const std::string& name, const std::string& payload);
  void remove_schedule(const std::string& name);
  /// A schedule makes it, as soon as anybody looks.
  void is_due(const std::string& payload);
  /// One killed at a fault point of the test build.
  void push_killed_at(const std::string& point, const std::string& payload, const Mishap& mishap = {});

  const Spool& spool() const { return spool_; }
  const Recorder& recorder() const { return recorder_; }
  const std::map<std::string, Fate>& fates() const { return fates_; }
  const std::vector<Kept>& kept() const { return kept_; }
  /// The highest that had been told at this cut.
  uint64_t last_id(size_t cut) const { return highest(ids_, cut); }
  uint64_t last_serial(size_t cut) const { return highest(serials_, cut); }

 private:
  struct Line {
    std::string text;
    size_t said = 0;  // calls that had been made when it was complete
  };
  std::vector<Line> run(const Words& words, const Start& how, const Mishap& mishap, int exit = 0);
  Kept& begin_step(const std::string& receipt, const std::string& payload, Words& words, Start& how);
  void push_some(const Words& words, const Start& how, const Words& payloads, const Mishap& mishap);
  size_t now() const { return recorder_.calls().size(); }
  void all_so_far_accepted(size_t at);
  static uint64_t highest(const std::map<size_t, uint64_t>& told, size_t cut);

  Spool spool_;
  Recorder recorder_;
  std::map<std::string, Fate> fates_;
  std::vector<Kept> kept_;
  size_t pushes_ = 0;
  size_t batches_ = 0;
  std::map<size_t, uint64_t> ids_, serials_;  // told, by the calls that had been made then
  bool ended_well_ = false;
};

struct Workload {
  std::string name;
  std::function<void(Story&)> tell;
  bool every_cut = false;  // in the short form too
};
std::vector<Workload> workloads();
/// And those of steps and schedules.
std::vector<Workload> with_steps(std::vector<Workload> all);

/// Recovers what lies in `spool` and works on in it. What is wrong, or nothing.
std::string fault_of(const Story& story, size_t cut, const std::string& spool);

}  // namespace fq::test
