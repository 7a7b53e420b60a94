#include "cli/words/away_words.h"

namespace fq::cli {

void write_away(JsonWriter& json, const AwayList& away) {
  json.key("away").begin_array();
  for (const auto& [shard, part] : away.parts()) {
    json.begin_object().key("shard").number(uint64_t{shard});
    json.key("server").text(part.server).key("why").text(part.why).end_object();
  }
  json.end_array();
}

}  // namespace fq::cli
