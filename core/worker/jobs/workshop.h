// workshop - what all jobs of a queue share: what was asked of the worker, the queue's settings, where their
// output goes.
#pragma once

// fq, below us.
#include "core/worker/process/command_line.h"
#include "core/worker/process/options.h"
#include "core/worker/process/passage.h"

namespace fq::worker {

struct Workshop {
  const Options& options;
  const Voice& voice;
  const Environment& environment;
  Passage& out;
  Passage& err;
  Settings settings;  // of the queue that the job's messages are from

  void say(std::string_view text) const { err.write(voice.spoken(text)); }
  void remark(std::string_view text) const { err.remark(voice.spoken(text)); }
  /// Nobody reads what the jobs write: no more of them are started.
  bool is_blocked() const { return !out.has_room() || !err.has_room(); }
};

}  // namespace fq::worker
