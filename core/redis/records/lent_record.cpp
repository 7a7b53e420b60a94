#include "core/redis/records/lent_record.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

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
    for (double* const each :
         {&units.age, &units.tag, &units.loans, &units.share, &units.most, &units.used, &units.wanted})
      *each = fields.number<double>();
    units.name = fields.raw(fields.number<uint16_t>());
    if (fields.ok()) record.limits.push_back(std::move(units));
  }
  return record;
}

}  // namespace fq
