// ended_pages - the messages that have ended, the newest end first: dead messages, which are in the queue
// still, among those of which only a record tells.
//
// A cursor is the end and the id of the last one that was told, so dead messages and records both go on
// behind it.
#pragma once

// fq, this room.
#include "core/local/consume/ended_view.h"
#include "core/local/look/viewer.h"

namespace fq {

class EndedPages {
 public:
  EndedPages(Viewer& viewer, EndedView& ended) : viewer_(viewer), ended_(ended) {}

  Result<MessagePage> page(const Filter& filter, const Cursor& from, size_t n);

 private:
  Viewer& viewer_;
  EndedView& ended_;
};

}  // namespace fq
