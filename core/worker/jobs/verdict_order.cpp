#include "core/worker/jobs/verdict_order.h"

namespace fq::worker {

Settle settle_of(const VerdictOrder& order) {
  Settle item;
  item.receipt = order.receipt;
  item.verdict = order.verdict;
  item.delay_ms = order.delay_ms;
  item.reason = order.reason;
  item.exit = order.exit;
  item.signal = order.signal;
  item.stderr_tail = order.stderr_tail;
  item.output = order.output ? &*order.output : nullptr;
  item.run_us = order.run_us;
  return item;
}

}  // namespace fq::worker
