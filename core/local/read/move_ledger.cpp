#include "core/local/read/move_ledger.h"

// System.
#include <algorithm>

namespace fq {

Result<MoveLedger> MoveLedger::read(Disk& disk) {
  MoveLedger ledger;
  const auto visit = [&](const ScannedRecord& record) { return ledger.visit(record), Result<void>(); };
  FQ_TRY_SET(const ScanResult scan, scan_journal(disk, visit, Holes::taken));
  ledger.from_the_beginning_ = !scan.files.empty() && scan.files.front().key.number == 1;
  return ledger;
}

bool MoveLedger::lacks(MessageId id) const {
  const bool would_tell = from_the_beginning_ || least_new_id_ < number(id);
  return would_tell && !arrived_.contains(id);
}

void MoveLedger::visit_pushed(MessageId id) { least_new_id_ = std::min(least_new_id_, number(id)); }

void MoveLedger::visit(const ScannedRecord& record) {
  const RecordHeader& header = record.header;
  if (header.type == RecordType::pushed) {
    visit_pushed(PushedReader(record.body, header.count).first_id());
  } else if (header.type == RecordType::arrived) {
    const std::optional<MovedRecord> arrived = decode_moved(record.body);
    if (!arrived) return;
    visit_pushed(arrived->id);
    arrived_.insert(arrived->id);
  } else if (header.type == RecordType::leaving) {
    const std::optional<EditedRecord> edited = decode_edited(record.body);
    const auto terms = edited ? decode_terms(edited->now.message.terms) : std::nullopt;
    if (terms && terms->transit) leaving_[edited->now.id] = terms->transit->mark;
  } else if (header.type == RecordType::left) {
    EventRecord event;
    if (!decode_event(header.type, header.count, record.body, event)) return;
    for (const EventItem& item : event.items) {
      const auto sent = leaving_.find(item.id);
      if (sent != leaving_.end()) departures_.push_back({item.id, sent->second, event.detail.id_there});
    }
  }
}

}  // namespace fq
