// obstacle - why an append could not be made as things stood: found under the lock, mended outside it.
#pragma once

namespace fq {

enum class Obstacle {
  none,
  ring_full,     // write it out first
  file_needed,   // make a journal file
  closing_room,  // live messages could not be ended any more: make a file or refuse
  memory,        // grow the segment
  limits,        // raise the limit of ids and serials
  pending,       // a push that is not applied yet may change it: make durable what there is
  holder,        // become known as a process that holds leases by living
  note,          // something is to be written of those that end: see endings.h
};

/// Overcome by the caller; all others by the Writer.
inline bool is_callers(Obstacle obstacle) {
  return obstacle == Obstacle::holder || obstacle == Obstacle::note;
}

// Against obstacles in one operation: a livelock would be a bug, an endless loop a worse one.
inline constexpr int kObstaclesMax = 64;

}  // namespace fq
