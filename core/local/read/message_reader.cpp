#include "core/local/read/message_reader.h"

// System.
#include <fcntl.h>

#include <cerrno>
// fq, this room.
#include "core/local/files/blobs.h"
#include "core/local/read/event_walk.h"

namespace fq {

namespace {

constexpr int kReadTries = 3;

}  // namespace

/// It was moved to another file since, or written over in the ring: where is it now?
Result<bool> MessageReader::find_and_read(FoundMessage& message) {
  for (int attempt = 1;; ++attempt) {
    reader().forget();
    FQ_TRY(locked([&]() -> Result<void> {
      const std::optional<SlotIndex> slot = schedule().messages().find(MessageId{message.id});
      message.place.reset();
      if (slot) message.place = ItemReader::find_item(stream(), header(), schedule().messages().entry(*slot));
      return {};
    }));
    if (attempt == kReadTries) return false;
    if (!message.place) continue;
    FQ_TRY_SET(const bool found, reader().read(*message.place, stored_));
    if (found) return true;
  }
}

std::string MessageReader::lost_text(const FoundMessage& message) {
  if (!message.place) return "its record is lost: its journal file is not known any more";
  const FileKey& key = message.place->file.key;
  const Result<std::unique_ptr<File>> file = open_journal_file(disk(), key);
  const std::string name = journal_file_name(key.number);
  if (!file.ok() && file.error().sys == ENOENT) return "its record is lost: " + name + " is gone";
  return "its record is damaged: " + name + " at byte " + std::to_string(message.place->file.offset);
}

Result<std::string> MessageReader::what_is_lost(const FoundMessage& message) {
  const uint32_t current = header().current_file.peek();
  if (message.place && message.place->file.key.number == current) {
    const Result<std::unique_ptr<File>> file = open_journal_file(disk(), message.place->file.key);
    if (!file.ok() && file.error().sys == ENOENT) return files().gone(current);
  }
  return lost_text(message);
}

Result<bool> MessageReader::has_tag(const Snapshot& snapshot, const Tag& tag) {
  if (!snapshot.place) return false;
  FQ_TRY_SET(const bool found, read(*snapshot.place));
  return found && fq::has_tag(item(), tag);
}

Result<bool> MessageReader::fits(const Snapshot& snapshot, const Filter& filter) {
  if (filter.tag) {
    FQ_TRY_SET(const bool tagged, has_tag(snapshot, *filter.tag));
    if (!tagged) return false;
  }
  if (filter.reason.empty()) return true;
  FQ_TRY_SET(const std::optional<LastError> error, last_error_of(link_, snapshot));
  return error && error->reason.find(filter.reason) != std::string::npos;
}

Result<void> MessageReader::open_payload(Payload& into) {
  FQ_TRY_SET(const std::unique_ptr<File> file, open_whole_blob(disk(), stored_.item));
  const int own = ::fcntl(file->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (own < 0) return sys_error("dup", blob_file_name(*stored_.item.blob), errno);
  into = Payload(own, stored_.item.payload_bytes);
  return {};
}

bool has_tag(const MessageItem& item, const Tag& tag) {
  for (const TagView& each : decode_tags(item.tags).value_or(std::vector<TagView>{})) {
    if (each.name == tag.name && each.value == tag.value) return true;
  }
  return false;
}

std::optional<JobCommand> command_of(const JobTerms& terms) {
  if (terms.argv.empty()) return std::nullopt;
  JobCommand command;
  command.argv.assign(terms.argv.begin(), terms.argv.end());
  command.cwd = terms.cwd;
  command.env.assign(terms.env.begin(), terms.env.end());
  return command;
}

}  // namespace fq
