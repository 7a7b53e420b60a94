#include "core/redis/shard/round.h"

// System.
#include <utility>

namespace fq {

namespace {

constexpr size_t kToldAtOnce = 1024;  // they cost a server little, and who is told later may be told too late

}  // namespace

void Round::add(Shard& shard, std::vector<std::string> words, bool& is_heard,
                std::function<void(const Reply&)> hear) {
  parts_.push_back({shard, std::move(words), is_heard, std::move(hear)});
}

void Round::tell() {
  std::vector<Part*> heard, unheard;
  for (Part& each : parts_) (each.is_heard ? heard : unheard).push_back(&each);
  tell_those(heard);
  tell_those(unheard);
}

void Round::tell_those(const std::vector<Part*>& parts) {
  CallsAtOnce calls(link_);
  for (const Part* const each : parts) {
    ArgumentList arguments;
    for (const std::string& word : each->words) arguments.borrow(word);
    calls.add(each->shard, "change", std::move(arguments));
  }
  calls.send(kToldAtOnce);
  for (size_t i = 0; i < parts.size(); ++i) {
    const Result<Reply> said =
        calls.is_lost(i) ? Error{ErrorKind::io, {}, 0} : calls.answer_once(i);
    parts[i]->is_heard = said.ok();
    if (said && parts[i]->hear) parts[i]->hear(*said);
  }
}

}  // namespace fq
