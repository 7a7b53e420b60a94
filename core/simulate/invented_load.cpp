#include "core/simulate/invented_load.h"

// System.
#include <algorithm>
#include <cmath>

namespace fq {

Result<InventedLoad> InventedLoad::make(const std::vector<LoadSpec>& specs, int64_t for_ms,
                                        std::vector<Setting> settings) {
  double messages = 0;
  for (const LoadSpec& spec : specs)
    messages +=
        static_cast<double>(spec.count) / static_cast<double>(spec.span_ms) * static_cast<double>(for_ms);
  if (messages > static_cast<double>(kInventedMessagesMax)) {
    return Error{ErrorKind::usage,
                 "--load: " + std::to_string(static_cast<uint64_t>(std::min(messages, 1e18))) +
                     " messages, the limit is " + std::to_string(kInventedMessagesMax) +
                     "; simulate a shorter time by --for",
                 0};
  }
  if (messages < 1)
    return Error{ErrorKind::usage, "--load: no message comes in this time; write a longer --for", 0};
  return InventedLoad(specs, for_ms, std::move(settings));
}

InventedLoad::InventedLoad(const std::vector<LoadSpec>& specs, int64_t for_ms, std::vector<Setting> settings)
    : for_ms_(for_ms), settings_(std::move(settings)) {
  for (Setting& setting : settings_) {
    for (PolicyValue& value : setting.patch.set)
      if (value.key == PolicyKey::limited) value.number += kBegin;
  }
  for (const LoadSpec& spec : specs) {
    auto found = std::find(tenants_.begin(), tenants_.end(), spec.tenant);
    if (found == tenants_.end()) found = tenants_.insert(found, spec.tenant);
    sources_.push_back({.tenant = static_cast<uint32_t>(found - tenants_.begin()),
                        .gap_ms = static_cast<double>(spec.span_ms) / static_cast<double>(spec.count),
                        .run_ms = spec.run_ms});
    if (spec.weight_milli != 0)
      settings_.push_back({spec.tenant, {{{PolicyKey::weight, spec.weight_milli, 0, {}}}, {}}});
  }
  rewind();
}

void InventedLoad::rewind() {
  random_.seed(1);
  coming_.clear();
  source_of_.clear();
  settings_made_ = 0;
  for (uint32_t source = 0; source < sources_.size(); ++source) plan(static_cast<double>(kBegin), source);
}

void InventedLoad::plan(double from_ms, uint32_t source) {
  // Above 0, of 53 bits.
  const double drawn = (static_cast<double>(random_() >> 11) + 1) / 9007199254740992.0;
  const double at_ms = from_ms - std::log(drawn) * sources_[source].gap_ms;
  if (at_ms >= static_cast<double>(end_ms())) return;
  coming_.push_back({at_ms, source});
  std::push_heap(coming_.begin(), coming_.end());
}

int64_t InventedLoad::next_ms() const {
  if (settings_made_ < settings_.size()) return kBegin;
  return coming_.empty() ? kNever : static_cast<int64_t>(coming_.front().at_ms);
}

Happening InventedLoad::take() {
  if (settings_made_ < settings_.size()) return {kBegin, Happening::What::set, settings_made_++};
  std::pop_heap(coming_.begin(), coming_.end());
  const Coming now = coming_.back();
  coming_.pop_back();
  plan(now.at_ms, now.source);
  source_of_.push_back(now.source);
  return {static_cast<int64_t>(now.at_ms), Happening::What::push, source_of_.size()};
}

}  // namespace fq
