// top_jobs - the jobs that run, and the messages that wait, as fq top lists them; one of them is chosen.
//
// Chosen by queue and id: a key acts on the chosen one, wherever it stands in the next view.
#pragma once

// System.
#include <string>
#include <vector>
// fq, below us.
#include "core/api/message.h"
// fq, this room.
#include "cli/terminal/screen.h"
#include "cli/views/top/choice.h"

namespace fq::cli {

class TopJobs {
 public:
  struct Job {
    std::string queue;
    MessageInfo message;
  };

  /// Shown with what runs first, the longest of it at the top; the others in the order of service.
  void show(std::vector<Job> jobs, int64_t now_wall_ms);
  const Job* chosen() const { return jobs_.empty() ? nullptr : &jobs_[choice_.line()]; }
  size_t count() const { return jobs_.size(); }
  Choice& choice() { return choice_; }

  /// At most `rows` lines.
  std::string text(const Screen& screen, size_t rows);

 private:
  std::vector<Job> jobs_;
  int64_t now_wall_ms_ = 0;
  Choice choice_;
};

}  // namespace fq::cli
