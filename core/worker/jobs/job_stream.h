// job_stream - a command that stays up: messages go in as lines of JSON, verdicts come out as lines of text.
//
// It never waits for the command: messages that the command does not read yet are held here, at most
// `prefetch` messages, of which only the next ones are lines already. A line that is not a verdict costs no
// message anything; a command that ends leaves its open messages to be retried.
#pragma once

// System.
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
// fq, this room.
#include "core/worker/jobs/job.h"
#include "core/worker/process/job_group.h"
#include "core/worker/process/outbox.h"
#include "core/worker/process/stopwatch.h"

namespace fq::worker {

class JobStream {
 public:
  /// `kept`: a descriptor that its process inherits so that its messages wait for it; may be null.
  static Result<std::unique_ptr<JobStream>> start(const Workshop& shop, const std::string& queue,
                                                  uint32_t slot, std::shared_ptr<const Descriptor> kept);

  const Process& process() const { return process_; }
  int in() const { return in_.get(); }
  int out() const { return out_.get(); }
  Capture& err() { return err_; }
  size_t open_count() const { return open_.size(); }
  bool wants_to_write() const {
    return in_ && (!outbox_.empty() || (stage_ == Stage::up && !waiting_.empty()));
  }

  /// Whether it takes messages still.
  bool listens() const { return in_ && out_ && stage_ == Stage::up; }
  void give(const Workshop& shop, Arrival arrival);
  /// Writes what the command takes now. Messages whose payload cannot be read are buried.
  std::vector<VerdictOrder> flush(const Workshop& shop);
  /// The verdicts that have come. Lines that are none are told through the voice.
  std::vector<VerdictOrder> read_verdicts(const Workshop& shop);
  /// A verdict was given by another process. False: it is not open here.
  bool note_settled(const Receipt& receipt);
  /// Its message may be open until then. Once all for which the command was told to end have asked, or have
  /// ended, it goes on.
  void extend(const Receipt& receipt, int64_t until_ms);
  /// When on_time() has something to do; kNever: nothing.
  int64_t next_ms() const;
  /// TERM when a message is open for too long, or when it lives on without its input or output for too long;
  /// KILL when that did not help.
  void on_time(int64_t now_ms, int64_t grace_ms);
  void kill();
  /// Its process has ended, `stopped` by us or not. What it said before that counts.
  std::vector<VerdictOrder> note_end(const Workshop& shop, bool stopped, int64_t now_ms);
  bool is_over() const { return end_.has_begun(); }
  /// Needs: it is over. False: what it left, which would be at work on messages that are run again, is about
  /// to be gone; to be asked again.
  bool is_gone(int64_t now_ms) { return end_.is_gone(process_, now_ms); }
  /// The command has closed it.
  void note_input_closed() { in_.close(); }
  /// No more messages: the command reads the end of its input, behind the line that it has begun to read.
  /// Messages behind that are released.
  std::vector<VerdictOrder> close_input();
  /// Needs: nothing is open. It reads the end of its input, and TERM when it lives on then.
  void dismiss(int64_t term_at_ms);
  /// Once it is gone: its open messages are retried, or released where we stopped it and they were not over
  /// their time.
  std::vector<VerdictOrder> finish(const Workshop& shop);

 private:
  struct Open {
    Arrival arrival;
    int64_t limit_at_ms = kNever;
    bool timed_out = false;
  };
  enum class Stage {
    up,
    leaving,  // it has closed its input or output, or is to end with its input: TERM at step_at_ms_
    ending,   // TERM was sent: KILL at step_at_ms_
    killed,
  };
  struct Back {
    Stage stage = Stage::up;
    int64_t step_at_ms = kNever;
    bool asked = false;
  };
  JobStream() = default;
  void take_end_back();
  bool take_some(const Workshop& shop, std::vector<VerdictOrder>& orders);
  bool take_line(const Workshop& shop, std::string_view line, std::vector<VerdictOrder>& orders);
  void make_lines(const Workshop& shop, std::vector<VerdictOrder>& orders);
  void release_unread(const std::string& receipt, std::vector<VerdictOrder>& orders);
  void share_time(std::span<VerdictOrder> orders);
  std::optional<VerdictOrder> order_of(const Workshop& shop, std::string_view line) const;

  std::string queue_;
  Process process_;
  Descriptor in_;
  Descriptor out_;
  Capture err_;
  std::deque<std::string> waiting_;                // receipts of messages that are no lines yet
  Outbox outbox_;                                  // lines that the command does not read yet
  std::string line_;                               // of its output, not ended yet
  bool skips_ = false;                             // the rest of a line that was too long
  std::map<std::string, Open, std::less<>> open_;  // by receipt
  bool limited_ = false;                           // some of them have a limit
  Stopwatch busy_;                                 // since it had something to do, or its last verdict
  Stage stage_ = Stage::up;
  int64_t step_at_ms_ = kNever;
  GroupEnd end_;
  ExitStatus status_;
  bool stopped_ = false;
  std::optional<Back> back_;  // ending, and only since messages are over their time: from there
};

}  // namespace fq::worker
