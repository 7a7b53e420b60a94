#include "core/redis/records/lent_record.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

/// What another than the server's program wrote may be no number, or none that a count can be.
bool are_counts(const LentUnits& units) {
  constexpr double kCountMax = 9007199254740992.0;
  const auto is_count = [](double value) { return value >= 0 && value <= kCountMax; };
  const auto counts = {units.age,  units.tag,    units.loans + 1, units.share, units.most,
                       units.used, units.wanted, units.interval,  units.since};
  return std::all_of(counts.begin(), counts.end(), is_count);
}

}  // namespace

const LentUnits* LentRecord::find(std::string_view name) const {
  const auto found =
      std::find_if(limits.begin(), limits.end(), [&](const LentUnits& each) { return each.name == name; });
  return found == limits.end() ? nullptr : &*found;
}

LentRecord read_lent(std::string_view bytes) {
  LentRecord record;
  if (bytes.empty()) return record;
  Unpacker fields(bytes);
  record.age = fields.number<double>();
  while (fields.ok() && !fields.rest().empty()) {
    LentUnits units;
    for (double* const each : {&units.age, &units.tag, &units.loans, &units.share, &units.most, &units.used,
                               &units.wanted, &units.interval, &units.since})
      *each = fields.number<double>();
    units.name = fields.raw(fields.number<uint16_t>());
    if (fields.ok() && are_counts(units)) record.limits.push_back(std::move(units));
  }
  return record;
}

}  // namespace fq
