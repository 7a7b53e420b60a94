// job_table - the jobs that run, the messages that wait and those that have ended, a row each.
#pragma once

// System.
#include <cstdint>
#include <string>
// fq, below us.
#include "core/api/message.h"
// fq, this room.
#include "cli/terminal/table.h"

namespace fq::cli {

class JobTable {
 public:
  explicit JobTable(int64_t now_wall_ms);

  void add(const MessageInfo& message);
  bool empty() const { return count_ == 0; }
  std::string text(const Screen& screen) const { return table_.text(screen); }

 private:
  Table table_{{1, 2, 3, 4, 5, 6}};
  const int64_t now_wall_ms_;
  size_t count_ = 0;
};

}  // namespace fq::cli
