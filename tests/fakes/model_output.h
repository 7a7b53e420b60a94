// model_output - what jobs write, as the model keeps it: all of it, in memory, run after run.
#pragma once

// System.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>
// fq, below us.
#include "core/api/queue.h"

namespace fq::test {

/// What one run wrote. Under the mutex of its store.
struct ModelRun {
  std::string texts[2];
  uint64_t read[2] = {0, 0};  // by its caller
  bool over = false;
  bool left = false;  // by who ran it
};

struct ModelRuns {
  std::mutex mutex;
  std::map<uint64_t, std::map<uint32_t, std::shared_ptr<ModelRun>>> runs;  // by message and delivery
  std::set<uint64_t> calls;
};

std::shared_ptr<RunOutput> model_run_output(std::shared_ptr<ModelRuns> runs, const Delivery& delivery,
                                            const RunTerms& terms);
std::unique_ptr<OutputFollower> model_follower(std::shared_ptr<ModelRuns> runs, Queue& queue, MessageId id,
                                               std::optional<CallId> call);
/// What is kept of it: the texts themselves where they were in its run.
JobOutput model_kept(const JobOutput& output);

}  // namespace fq::test
