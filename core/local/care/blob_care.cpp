#include "core/local/care/blob_care.h"

// System.
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
// fq, below us.
#include "core/base/text/counted.h"
#include "core/base/fault_point.h"
#include "core/engine/interruption.h"
#include "core/engine/signals_allowed.h"

namespace fq {

namespace {

constexpr uint32_t kBlobSlotsPerStep = 65536;  // walked under one hold of the lock: about 1 ms
constexpr size_t kUsersPerStep = 1024;
constexpr size_t kHeldBlobs = 64;  // descriptors, of the 1024 that a process usually has
constexpr int kLookTries = 5;      // against compaction and other payloads

/// A fault of the blob, and not of what it takes to look at it.
bool is_told(const Error& error) {
  return is_lost(error) || error.kind == ErrorKind::unusable || error.sys == EIO;
}

}  // namespace

/// Some messages whose payload is in a blob, from a slot on. True: there are no more.
Result<bool> BlobCare::find_blob_users(std::vector<FoundMessage>& found, uint32_t& next_slot) {
  bool at_end = false;
  const uint32_t from = next_slot;
  found.reserve(kUsersPerStep);  // nothing is allocated under the lock
  FQ_TRY(locked([&]() -> Result<void> {
    found.clear();
    if (from == 0) gate().apply_pending();
    const uint32_t end = schedule().views().slots_end();
    const uint32_t to = from < end ? from + std::min(kBlobSlotsPerStep, end - from) : end;
    uint32_t slot = from;
    for (; slot < to && found.size() < kUsersPerStep; ++slot) {
      const Entry& entry = schedule().messages().entry(SlotIndex{slot});
      const bool is_free = static_cast<SlotState>(entry.state.get()) == SlotState::free;
      if (is_free || (entry.flags & kEntryBlob) == 0) continue;
      found.push_back({entry.id, ItemReader::find_item(stream(), header(), entry)});
    }
    at_end = slot >= end;
    next_slot = at_end ? 0 : slot;
    return {};
  }));
  return at_end;
}

/// Where the message's payload lies in the stream now; none when it has ended.
Result<std::optional<uint64_t>> BlobCare::item_position_of(uint64_t id) {
  std::optional<uint64_t> position;
  FQ_TRY(locked([&]() -> Result<void> {
    position.reset();
    if (const std::optional<SlotIndex> slot = schedule().messages().find(MessageId{id})) {
      position = schedule().messages().entry(*slot).item_position;
    }
    return {};
  }));
  return position;
}

/// It may take as long as a disk needs for 1 GiB.
Result<std::unique_ptr<File>> BlobCare::read_whole(const MessageItem& item) {
  const SignalsAllowed allowed(true);
  return open_whole_blob(disk(), item);
}

/// Looks at one message's blob. It may end, move, or get another payload meanwhile.
Result<void> BlobCare::check_blob(FoundMessage& user, Checked& checked) {
  for (int attempt = 0; attempt < kLookTries; ++attempt) {
    FQ_TRY_SET(const bool readable, messages_.read(user));
    if (readable && !messages_.item().blob) return {};
    Result<std::unique_ptr<File>> whole =
        readable ? read_whole(messages_.item()) : Error{ErrorKind::bad_data, "", 0};
    if (whole.ok()) return {};
    if (!is_told(whole.error())) return std::move(whole).error();
    FQ_TRY_SET(const std::optional<uint64_t> position, item_position_of(user.id));
    if (!position) return {};
    if (!readable) checked.has_unreadable = true;  // which is damage of the journal
    if (!readable) return {};
    if (*position != user.place->position) {
      user.place.reset();
      continue;
    }
    if (hides_blob(messages_.item())) checked.has_unreadable = true;
    const std::string what = message_object(user.id) + ": its payload " + whole.error().text;
    checked.report.findings.add("damage: " + what);
    if (is_lost(whole.error()))
      checked.lost_blobs.push_back({MessageId{user.id}, *position, *messages_.item().blob, what});
    return {};
  }
  return {};
}

Result<void> BlobCare::each_output(const VisitOutput& visit) {
  struct Output {
    uint64_t id = 0;
    uint64_t record = 0;
    uint32_t step = 0;
    ItemPlace place;
  };
  std::vector<Output> found;
  found.reserve(kUsersPerStep);  // nothing is allocated under the lock
  StoredItem stored;
  for (uint32_t next = 0, from = 0;; from = next) {
    bool at_end = false;
    FQ_TRY(locked([&]() -> Result<void> {
      found.clear();
      const KeptSteps steps = schedule().steps();
      const uint32_t to = std::min(steps.end(), from + kBlobSlotsPerStep);
      uint32_t at = from;
      for (; at < to && found.size() < kUsersPerStep; ++at) {
        const Step& step = steps.at(at);
        if ((step.flags & kStepBlob) == 0 || !steps.is_used(at)) continue;
        const uint64_t position = step.record + step.item_offset;
        const auto file = stream().table().place(position);
        const uint64_t written_end = header().ring_start.load(std::memory_order_relaxed);
        if (file) found.push_back({step.id, step.record, at, {position, *file, written_end, true}});
      }
      at_end = at >= steps.end();
      next = at;
      return {};
    }));
    for (const Output& output : found) {
      FQ_TRY_SET(const bool readable, reader().read(output.place, stored));
      bool same = true;
      // It may have been copied forward, or its message may have ended.
      if (!readable) {
        FQ_TRY(locked([&]() -> Result<void> {
          const KeptSteps steps = schedule().steps();
          same = steps.is_used(output.step) && steps.at(output.step).record == output.record;
          return {};
        }));
      }
      if (readable || same) visit(output.id, readable ? &stored.item : nullptr);
      const bool again = !readable && !same;
      if (again) next = std::min(next, output.step);
      at_end = at_end && !again;
    }
    if (at_end) return {};
  }
}

Result<void> BlobCare::check(Checked& checked, Interrupt* interrupt) {
  FQ_TRY_SET(const BlobNames names, list_blobs(disk()));
  std::vector<FoundMessage> users;
  uint32_t next_slot = 0;
  for (bool at_end = false; !at_end;) {
    FQ_TRY_SET(at_end, find_blob_users(users, next_slot));
    for (FoundMessage& user : users) {
      FQ_TRY(unless_interrupted(interrupt));
      FQ_TRY(check_blob(user, checked));
    }
  }
  std::optional<Error> fault;
  FQ_TRY(each_output([&](uint64_t id, const MessageItem* item) {
    if (item == nullptr || !item->blob) return;
    const Result<std::unique_ptr<File>> whole = read_whole(*item);
    if (whole.ok()) return;
    if (!is_told(whole.error())) fault = whole.error();
    checked.report.findings.add("damage: " + message_object(id) + ": the output of one of its steps " +
                                whole.error().text);
  }));
  if (fault) return std::move(*fault);
  for (const std::string& strange : names.strange) {
    const std::string path = strange.substr(0, strange.find(':'));
    const bool told = std::any_of(checked.lost_blobs.begin(), checked.lost_blobs.end(),
                                  [&](const LostBlob& lost) { return blob_file_name(lost.name) == path; });
    if (!told) checked.report.findings.add(strange);
  }
  return {};
}

Result<std::optional<std::set<std::string>>> BlobCare::named() {
  std::set<std::string> named;
  std::vector<FoundMessage> users;
  uint32_t next_slot = 0;
  const uint64_t generation = header().identity.generation;
  for (bool at_end = false; !at_end;) {
    FQ_TRY_SET(at_end, find_blob_users(users, next_slot));
    for (FoundMessage& user : users) {
      FQ_TRY_SET(const bool readable, messages_.read(user));
      if (readable && hides_blob(messages_.item())) return std::optional<std::set<std::string>>();
      if (readable && messages_.item().blob) named.insert(blob_file_name(*messages_.item().blob));
      if (readable) continue;
      FQ_TRY_SET(const std::optional<uint64_t> position, item_position_of(user.id));
      if (position) return std::optional<std::set<std::string>>();
    }
  }
  bool all_read = true;
  FQ_TRY(each_output([&](uint64_t, const MessageItem* item) {
    all_read = all_read && item != nullptr;
    if (item != nullptr && item->blob) named.insert(blob_file_name(*item->blob));
  }));
  if (!all_read) return std::optional<std::set<std::string>>();
  // Slots of another segment: some may have been passed over.
  if (header().identity.generation != generation) return std::optional<std::set<std::string>>();
  return std::optional(std::move(named));
}

/// False: it is gone. One whose message has just ended is taken away by who ended it, at any moment.
Result<bool> BlobCare::deal_with(Disk& disk, const std::string& path, OrphanFate fate) {
  if (fate == OrphanFate::told) return disk.open(path, OpenMode::read).ok();
  if (fate == OrphanFate::kept) return keep_blob(disk, path);
  Result<void> removed = disk.remove(path);
  if (!removed.ok() && removed.error().sys == ENOENT) return false;
  FQ_TRY(std::move(removed));
  return true;
}

/// Of `paths` those that belong to nobody, with what is to become of them.
Result<void> BlobCare::sort_out(std::span<const std::string> paths, OrphanFate fate, Orphans& orphans) {
  Disk& disk = this->disk();
  struct Held {
    std::string path;
    std::unique_ptr<File> file;  // its lock keeps everybody from beginning with it
  };
  std::vector<Held> held;
  for (const std::string& path : paths) {
    Result<std::unique_ptr<File>> file = disk.open(path, OpenMode::read);
    if (!file.ok() || ::flock((*file)->descriptor(), LOCK_EX | LOCK_NB) != 0) continue;
    held.push_back({path, std::move(file).value()});
  }
  if (held.empty()) return {};
  // What was accepted before is in the segment, or waits there for the disk.
  FQ_TRY(link_.wait_all_durable());
  FQ_TRY_SET(const std::optional<std::set<std::string>> named, named());
  orphans.known = orphans.known && named;
  if (!named) return {};
  for (const Held& each : held) {
    if (named->count(each.path) != 0) continue;
    FQ_POINT("orphan.found");
    FQ_TRY_SET(const bool was_there, deal_with(disk, each.path, fate));
    FQ_POINT("orphan.gone");
    if (!was_there) continue;
    ++orphans.count;
    FQ_TRY_SET(const uint64_t bytes, each.file->size());
    orphans.bytes += bytes;
  }
  return {};
}

Result<BlobCare::Orphans> BlobCare::find_orphans(OrphanFate fate) {
  Orphans orphans;
  FQ_TRY_SET(const BlobNames names, list_blobs(disk()));
  if (names.own.empty()) return orphans;
  FQ_TRY_SET(const std::optional<std::set<std::string>> named, named());
  orphans.known = named.has_value();
  if (!named) return orphans;
  std::vector<std::string> suspects;
  for (const std::string& path : names.own) {
    if (named->count(path) == 0) suspects.push_back(path);
  }
  for (size_t from = 0; from < suspects.size(); from += kHeldBlobs) {
    const size_t count = std::min(kHeldBlobs, suspects.size() - from);
    FQ_TRY(sort_out(std::span(suspects).subspan(from, count), fate, orphans));
  }
  return orphans;
}

Result<uint64_t> BlobCare::remove_orphans() {
  uint64_t looked_at = 0;
  bool of_damage = false;
  bool is_known = false;
  FQ_TRY(locked([&]() -> Result<void> {
    looked_at = header().loose_blobs.bytes;
    of_damage = header().loose_blobs.of_damage != 0;
    is_known = !of_damage && header().loose_blobs.looked_at == looked_at;
    return {};
  }));
  const Result<Orphans> found = find_orphans(of_damage ? OrphanFate::kept : OrphanFate::removed);
  if (is_known) return found.ok() ? Result<uint64_t>(found->count) : Result<uint64_t>(found.error());
  // Only now: who dies at it leaves it to the next. What could not be done is not tried again at once.
  FQ_TRY(locked([&]() -> Result<void> {
    LooseBlobsCount& count = header().loose_blobs;
    Txn txn = store().begin();
    txn.set(count.looked_at, looked_at);
    if (of_damage && found.ok() && found->known) txn.set(count.of_damage, 0);
    txn.commit();
    return {};
  }));
  if (!found.ok()) return found.error();
  return of_damage ? 0 : found->count;
}

/// The bytes of lost payloads are kept, and their messages, of which nothing is left to deliver, cancelled.
Result<void> BlobCare::set_aside(const Checked& found, CheckReport& report) {
  for (const LostBlob& lost : found.lost_blobs) {
    // Kept first: a death in between leaves a message whose payload is gone, which the next repair cancels.
    const std::string path = blob_file_name(lost.name);
    FQ_TRY_SET(const bool kept, keep_blob(disk(), path));
    FQ_POINT("repair.blob_kept");
    FQ_TRY_SET(const SettleStatus status,
               mutator_.change(lost.id, Action::cancel, nullptr, lost.item_position));
    if (status != SettleStatus::ok) continue;
    ++report.messages_cancelled;
    report.repairs.add(lost.what + (kept ? "; kept in damaged/" : "") + "; cancelled");
  }
  return mutator_.finish();
}

}  // namespace fq
