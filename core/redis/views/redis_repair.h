// redis_repair - makes the keys of a shard agree again, by what the records of its messages say.
//
// Each call leaves what it has looked at whole, so others go on meanwhile. What is counted is written only
// where nobody changed anything since it was.
#pragma once

// System.
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>
// fq, below us.
#include "core/api/care.h"
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

/// Once used.
class RedisRepair {
 public:
  /// Signals come through between its calls, and `interrupt`, or null, ends it there. Where it fails, what it
  /// has done by then is left in `done`.
  RedisRepair(Shard& shard, const Interrupt* interrupt, CountedLines& done)
      : shard_(shard), interrupt_(interrupt), done_(done) {}

  /// What was done, and what is not well all the same.
  Result<CheckReport> run();

 private:
  using Words = std::vector<std::string>;
  Result<Words> names_of(std::string_view begin);
  Result<Words> whole_names_of(std::initializer_list<std::string_view> begins);
  Result<Reply> repair(std::string_view what, const Words& arguments);
  Result<void> mend_places();
  Result<void> mend_rings();
  Result<void> mend_pages_of(std::string_view what, const Words& all);
  Result<void> mend_in_pages(std::string_view what, const Words& all);
  Result<void> mend_nodes();
  Result<void> mend_counts();
  Result<void> weigh();
  /// False: somebody has changed something meanwhile.
  Result<bool> try_counts();
  Result<bool> write_counts(const std::string& changes, const std::map<std::string, std::string>& tenants);

  Shard& shard_;
  const Interrupt* interrupt_;
  CountedLines& done_;
  CountedLines remarks_;
};

}  // namespace fq
