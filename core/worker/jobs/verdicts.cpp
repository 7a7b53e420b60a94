#include "core/worker/jobs/verdicts.h"

// System.
#include <random>
// fq, below us.
#include "core/base/text/duration.h"

namespace fq::worker {

namespace {

constexpr int kBuryExit = 65;

uint64_t draw() {
  static std::mt19937_64 random{std::random_device{}()};
  return random();
}

std::string line_of(const std::string& queue, const Delivery& delivery) {
  return "queue '" + queue + "': message " + std::to_string(number(delivery.id)) + " of tenant '" +
         delivery.tenant + "': ";
}

bool is_last(const Delivery& delivery) { return delivery.attempt >= delivery.attempts_max; }

}  // namespace

Verdict verdict_of(const ExitStatus& status, Ending ending) {
  // What we ended because we ourselves end has done nothing wrong.
  if (ending == Ending::stopped && status.exit != 0) return Verdict::release;
  if (ending == Ending::timed_out) return Verdict::retry;
  if (status.exit == 0) return Verdict::ack;
  return status.exit == kBuryExit ? Verdict::bury : Verdict::retry;
}

std::string reason_of(const ExitStatus& status, Ending ending) {
  if (ending == Ending::timed_out) return "timed out";
  if (ending == Ending::stopped) return "the worker was stopped";
  if (status.signal) return "signal " + std::to_string(*status.signal);
  return "exit " + std::to_string(status.exit.value_or(0));
}

int64_t limit_of(const Workshop& shop, const Delivery& delivery) {
  const int64_t queues_ms = shop.options.timeout_ms.value_or(shop.settings.timeout_ms);
  return std::min(delivery.timeout_ms.value_or(queues_ms), kLatestMs);
}

int64_t backoff_for(const Workshop& shop, const Delivery& delivery) {
  const BackoffRange queues{shop.settings.backoff_base_ms, shop.settings.backoff_max_ms};
  return backoff_ms(shop.options.backoff.value_or(queues), delivery.attempt, draw());
}

VerdictOrder order_for(const Workshop& shop, const Delivery& delivery, const ExitStatus& status,
                       Ending ending, std::string_view stderr_tail) {
  VerdictOrder order;
  order.receipt = delivery.receipt;
  order.id = delivery.id;
  order.verdict = verdict_of(status, ending);
  if (order.verdict == Verdict::ack) order.exit = status.exit;
  if (order.verdict == Verdict::ack || order.verdict == Verdict::release) return order;
  order.reason = reason_of(status, ending);
  order.exit = status.exit;
  order.signal = status.signal;
  order.stderr_tail = stderr_tail;
  // The last one buries, and is due at no time.
  const bool again = order.verdict == Verdict::retry && !is_last(delivery);
  if (again) order.delay_ms = backoff_for(shop, delivery);
  return order;
}

VerdictOrder release_of(const Delivery& delivery) {
  VerdictOrder order;
  order.receipt = delivery.receipt;
  order.id = delivery.id;
  order.verdict = Verdict::release;
  return order;
}

VerdictOrder retry_of(const Workshop& shop, const Delivery& delivery, std::string reason) {
  VerdictOrder order;
  order.receipt = delivery.receipt;
  order.id = delivery.id;
  order.verdict = Verdict::retry;
  order.reason = std::move(reason);
  // The last one buries, and is due at no time.
  if (!is_last(delivery)) order.delay_ms = backoff_for(shop, delivery);
  return order;
}

VerdictOrder bury_of(const Delivery& delivery, std::string reason) {
  VerdictOrder order;
  order.receipt = delivery.receipt;
  order.id = delivery.id;
  order.verdict = Verdict::bury;
  order.reason = std::move(reason);
  return order;
}

std::string failure_line(const std::string& queue, const Delivery& delivery, const VerdictOrder& order) {
  const std::string line = line_of(queue, delivery) + order.reason;
  const std::string attempt =
      "attempt " + std::to_string(delivery.attempt) + " of " + std::to_string(delivery.attempts_max);
  if (order.verdict == Verdict::bury) return line + "; buried";
  if (order.verdict == Verdict::retry && is_last(delivery)) return line + "; buried after " + attempt;
  return line + "; again in " + format_duration(order.delay_ms) + " (" + attempt + ")";
}

std::string success_line(const std::string& queue, const Delivery& delivery, const VerdictOrder& order) {
  return line_of(queue, delivery) + (order.verdict == Verdict::ack ? "done" : "given back");
}

}  // namespace fq::worker
