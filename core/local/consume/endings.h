// endings - the notes about messages, written before the record that ends them, and told of them after it.
//
// An operation that ends messages asks under the state lock whether they are all noted (lacks_note). Where
// one is not, that is an obstacle like any other: it is overcome without the lock, and the whole is looked at
// again. From then on until the end is committed the log is ours, so that of two processes that end one
// message only one notes it.
//
// A message of whose end nobody is told costs a look at its flags.
#pragma once

// System.
#include <array>
// fq, this room.
#include "core/local/files/ended/ended_log.h"
#include "core/local/read/event_walk.h"
#include "core/local/read/message_reader.h"
#include "core/local/write/writer.h"

namespace fq {

/// Whether somebody is told of its end.
inline bool is_told_of(const Entry& entry, int64_t retention_ms, bool has_output) {
  const bool by_policy =
      retention_ms == kRetentionAuto ? (entry.flags & kEntryCommand) != 0 : retention_ms > 0;
  return by_policy || has_output || (entry.flags & kEntryKept) != 0;
}

/// Those that one operation ends. Owns the log of what has ended, and holds it from the first note to the
/// end.
class EndNotes : private Linked {
 public:
  EndNotes(Link& link, MessageReader& messages) : Linked(link), messages_(messages), log_(disk()) {}

  /// Whether this one has to be noted first, and is remembered for that. Needs: the state lock.
  bool lacks(RecordType type, SlotIndex slot, const Settle* settle);
  /// Notes those that were found. A fault in that does not fail the operation that ends them: it is told in a
  /// notice.
  void overcome();
  /// The noted messages have ended, or have not: the log is given back.
  void done();

  /// Gives back notes that have had their time, where there may be some.
  void tend();
  void sweep();
  EndedLog& log() { return log_; }

 private:
  static constexpr size_t kFoundMax =
      18;  // arbitrary; of a record that ends more they are noted in several goes

  struct Found {
    Snapshot snapshot;
    RecordType type{};
    const Settle* settle = nullptr;
    int64_t started_wall_ms = 0;  // of a leased one
  };
  struct Noted {
    uint64_t id = 0;
    uint64_t event_position = 0;
  };
  struct TriedOutput {
    uint64_t id = 0;
    int64_t until_wall_ms = 0;  // 0: it could not be kept
  };

  bool is_noted(uint64_t id, uint64_t event_position) const;
  bool take_log();
  void give_up(const std::string& why);
  void note_found();
  static bool is_long(const Settle* settle);
  void keep_long_outputs();
  void keep_long_output(const Found& found);
  std::optional<EndedRecord> record_of(const Found& found);
  int64_t kept_ms(const JobTerms& terms, const Settle* settle);
  void add_steps(const Found& found, EndedRecord& record);
  void add_output(const Found& found, EndedRecord& record);
  void add_past(const Found& found, EndedRecord& record);

  MessageReader& messages_;
  EndedLog log_;
  std::array<Found, kFoundMax> found_;
  size_t found_count_ = 0;
  std::vector<Noted> noted_;
  std::vector<TriedOutput> outputs_tried_;  // in output/, of those that were found
  int64_t now_wall_ms_ = 0;                 // of the ends that are noted
  bool has_log_ = false;
  bool gave_up_ = false;         // messages that end now are not noted
  int64_t no_try_until_ms_ = 0;  // until then the log is not waited for
  std::string told_why_;         // the last end was not kept for this; a thousand are not a thousand lines
  bool said_for_all_ = false;    // that it is so with later ones
  int64_t tended_at_ms_ = INT64_MIN / 2;
};

/// The way there, for all that ends messages. Most end none that is told of: the notes are made when the
/// first is met.
class Endings : private Linked {
 public:
  Endings(Link& link, Writer& writer, MessageReader& messages)
      : Linked(link), writer_(writer), messages_(messages) {}

  /// Whether an event that is to come about ends a message that is told of, and is not noted yet. Needs: the
  /// state lock.
  bool lacks_note(RecordType type, SlotIndex slot, const Settle* settle = nullptr);
  /// Writer::write_event of what may end messages; `work` returns Obstacle::note where a note is lacking.
  template <class Work>
  Result<void> write_ends(Work&& work) {
    struct Done {
      std::unique_ptr<EndNotes>& notes;
      ~Done() {
        if (notes) notes->done();
      }
    } const done{notes_};
    return writer_.write_event(work, [this] { return notes().overcome(), Result<void>(); });
  }
  EndNotes& notes();

 private:
  Writer& writer_;
  MessageReader& messages_;
  std::unique_ptr<EndNotes> notes_;
};

}  // namespace fq
