#include "core/worker/onlooker.h"

// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/text/duration.h"

namespace fq::worker {

namespace {

constexpr size_t kIdsMax = 8;  // named in one line

std::string names_of(const Queues& queues) {
  std::string text = queues.size() == 1 ? "queue " : "queues ";
  for (size_t i = 0; i < queues.size(); ++i) text += (i == 0 ? "'" : ", '") + queues.name(i) + "'";
  return text;
}

/// "3, 7, ...": of the messages that run.
std::string ids_at_work(Slots& slots) {
  std::string text;
  size_t count = 0;
  for (const Slot& slot : slots) {
    if (!slot.job) continue;
    for (const Arrival& each : slot.job->load().arrivals) {
      if (++count > kIdsMax) return text + ", ...";
      if (!text.empty()) text += ", ";
      text += std::to_string(number(each.delivery.id));
    }
  }
  return text;
}

}  // namespace

void Onlooker::on_time(int64_t now_ms, bool idle) {
  if (!shop_.options.looked_on) return;
  if (idle != std::exchange(idle_, idle)) tell_at_ms_ = idle ? now_ms + kMomentMs : kNever;
  if (now_ms < tell_at_ms_) return;
  tell_at_ms_ = kNever;
  if (shop_.options.stay == Stay::drain) {
    return shop_.say("worker: waits until " + names_of(queues_) +
                     " has nothing left; others hold messages, or some are on their way back");
  }
  shop_.say("worker: waits for messages in " + names_of(queues_) + "; Ctrl-C ends it");
}

void Onlooker::on_stop(Slots& slots) {
  tell_at_ms_ = kNever;
  const size_t running = slots.at_work();
  if (!shop_.options.looked_on || running == 0) return;
  const std::string ids = ids_at_work(slots);
  shop_.begin_line();
  shop_.say("worker: told to stop; waits for " + counted(running, "job") +
            (ids.empty() ? "" : (running == 1 ? " (message " : " (messages ") + ids + ")") + ", at most " +
            format_duration(shop_.options.grace_ms) + "; a second signal ends it at once");
}

}  // namespace fq::worker
