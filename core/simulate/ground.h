// ground - the memory of a schedule that only one process has.
//
// The counterpart of the segment of a queue, only plain: it has no locks and no disk, and where it becomes
// too small it moves, which a segment never does. So a Schedule of it is good until the next change.
#pragma once

// System.
#include <optional>
#include <vector>
// fq, below us.
#include "core/schedule/schedule.h"

namespace fq {

class Ground {
 public:
  Ground();

  const Schedule& schedule() const { return *schedule_; }

  /// One transaction, with room made for `need` before: `what(schedule, txn)`.
  template <class What>
  void change(const Need& need, What&& what) {
    if (!schedule_->growth().fits(need)) make_room(need);
    change(std::forward<What>(what));
  }
  template <class What>
  void change(What&& what) {
    if (schedule_->is_behind()) learn();
    Txn txn(base(), bytes(), header().log);
    what(*schedule_, txn);
    txn.commit();
  }
  /// Also what follows from a change that was made before: another scope needs more of some arrays.
  void make_room(const Need& need);

 private:
  struct Header {
    ScheduleRoot root;
    UndoLog log;
  };

  std::byte* base() { return reinterpret_cast<std::byte*>(words_.data()); }
  uint64_t bytes() const { return words_.size() * sizeof(uint64_t); }
  Header& header() { return *reinterpret_cast<Header*>(base()); }
  void enlarge(uint64_t bytes);
  void look_anew();
  void learn();
  void grow(ArrayName array);

  std::vector<uint64_t> words_;
  uint32_t next_page_;
  std::optional<Schedule> schedule_;
};

}  // namespace fq
