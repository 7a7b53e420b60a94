#include "core/local/files/queue_mark.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/local/files/lock_file.h"
#include "core/local/files/process_info.h"
#include "core/local/files/queue_directory.h"

namespace fq {

namespace {

// No vowels, so that none is a word, and nothing that is taken for something else.
constexpr std::string_view kCharacters = "bcdfghjkmnpqrstvwxyz023456789BCD";
static_assert(kCharacters.size() == 32);
constexpr int kDrawsMax = 100;  // arbitrary: a spool has not a million queues

std::string mark_in(const std::string& spool, const std::string& queue) {
  const Result<std::unique_ptr<Disk>> disk = open_queue_directory(spool, queue);
  if (!disk.ok()) return "";
  const Result<LockFile> lock = LockFile::open(**disk, "lock", false);
  LockIdentity identity;
  const Result<bool> known = lock.ok() ? lock->read(identity) : Result<bool>(false);
  return known.ok() && *known ? std::string(text_of(mark_of(identity.nonce))) : "";
}

}  // namespace

QueueMark mark_of(const uint8_t (&nonce)[16]) {
  QueueMark mark{};
  for (size_t i = 0; i < kMarkBytes; ++i) mark[i] = kCharacters[nonce[i] % kCharacters.size()];
  return mark;
}

Result<std::string> find_queue_marked(const std::string& spool, std::string_view mark) {
  FQ_TRY_SET(const std::vector<std::string> names, list_queue_directories(spool));
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& name) { return mark_in(spool, name) == mark; });
  return found == names.end() ? std::string() : *found;
}

Result<void> draw_nonce(const std::string& spool, uint8_t (&nonce)[16]) {
  for (int draw = 0; draw < kDrawsMax; ++draw) {
    fill_random(nonce, sizeof nonce);
    FQ_TRY_SET(const std::string taken, find_queue_marked(spool, text_of(mark_of(nonce))));
    if (taken.empty()) return {};
  }
  return Error{ErrorKind::unusable, "spool '" + spool + "': has too many queues for their marks", 0};
}

}  // namespace fq
