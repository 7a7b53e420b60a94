#include "cli/requests/measure.h"

namespace fq::cli {

Crew crew_of(Session& session) {
  Crew crew;
  const Result<std::vector<std::string>> names = session.all_queues();
  for (size_t i = 0; names.ok() && i < names->size(); ++i) {
    const std::string& name = (*names)[i];
    const Result<std::unique_ptr<Queue>> queue = open_queue({session.spool(), name});
    Result<std::vector<Attendee>> there = queue.ok() ? (*queue)->attendees() : queue.error();
    for (size_t k = 0; there.ok() && k < there->size(); ++k) crew.add(name, std::move((*there)[k]));
  }
  return crew;
}

Measured measured_of(const Crew& crew, const std::string& queue, const StatsRow& sums) {
  return {crew.hands_of(queue), sums.run_ms.count, sums.run_ms.sum_ms};
}

}  // namespace fq::cli
