#include "cli/words/away_words.h"

namespace fq::cli {

void write_away(JsonWriter& json, const AwayList& away) {
  json.key("away").begin_array();
  for (const auto& [queue, parts] : away.queues()) {
    for (const auto& [shard, part] : parts.by_shard) {
      json.begin_object().key("queue").text(queue).key("shard").number(uint64_t{shard});
      json.key("server").text(part.server).key("why").text(part.why).end_object();
    }
  }
  json.end_array();
}

void write_partial(JsonWriter& json, const AwayList& away) {
  if (away.is_empty()) return;
  json.key("partial").boolean(true);
  write_away(json, away);
}

}  // namespace fq::cli
