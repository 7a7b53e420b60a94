// workshop - the things that all jobs of a queue share: the worker's options and outputs, and the queue's
// settings.
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

  void say(std::string_view text) const { err.say(voice.spoken(text)); }
  void remark(std::string_view text) const { err.remark(voice.spoken(text)); }
  /// Jobs may have begun a line on our terminal: what is written there next has one of its own.
  void begin_line() const {
    if (options.output == OutputPolicy::inherit && !options.tags_output) out.write(voice.line_start());
  }
  /// The output of the jobs is not read: no more of them are started.
  bool is_blocked() const { return !out.has_room() || !err.has_room(); }
};

}  // namespace fq::worker
