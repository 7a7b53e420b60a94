#include "core/redis/sharded/visits.h"

// System.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
// fq, below us.
#include "core/base/clock.h"
// fq, this room.
#include "core/redis/shard/patience.h"

namespace fq {

namespace {

constexpr int64_t kFreshMs = 20;         // so long what was read is used again
constexpr int64_t kTokenMinMs = 10;      // nobody asks more often whether the next one may start
constexpr double kWeightOfOne = 1000;    // as the server's program has it
constexpr double kTurn = 2'520'000'000;  // likewise

/// Behind the weight in a root; 0: none is told.
double toll_in(const Result<Reply>& root) {
  if (!root) return 0;
  char* behind = nullptr;
  std::strtod(root->at(0).text.c_str(), &behind);
  const double told = std::strtod(behind, nullptr) / kTurn;
  return std::isfinite(told) && told > 0 ? told : 0;
}

/// Who only looked, in vain, has no outcome that could be unknown.
Error nothing_asked(Error error) {
  if (error.kind == ErrorKind::io) error.kind = ErrorKind::later;
  return error;
}

}  // namespace

Visits::Visits(Shards& shards, Purses& purses)
    : shards_(shards),
      purses_(purses),
      all_(shards.count()),
      random_(shards.told_ms() ? 0 : std::random_device{}()) {}

/// A time that is told stands still while its client works.
int64_t Visits::clock_ms(const Shard& shard) const {
  return shards_.told_ms().value_or(system_clock().boot_ms() + shard.clock_ahead_ms);
}

/// One that begins stands beside the others, by chance as far ahead as its weight and what its turns cost
/// say: of those that begin together each is the first as often as that.
void Visits::note(Shard& shard, double weight) {
  if (shard.weight == 0 && weight > 0)
    shard.tag =
        std::max(shard.tag, clock_ + std::exponential_distribution<double>(weight / toll_of(shard))(random_));
  shard.weight = weight;
}

/// Before the roots themselves: what one of them has not said is as it is with the others.
void Visits::take_tolls(const std::vector<Result<Reply>>& replies) {
  double sum = 0, count = 0;
  for (size_t shard = 0; shard < all_.size(); ++shard) {
    if (replies[shard]) all_[shard].toll = toll_in(replies[shard]);
    sum += all_[shard].toll;
    count += all_[shard].toll > 0 ? 1 : 0;
  }
  usual_toll_ = count > 0 ? std::optional(sum / count) : std::nullopt;
}

Result<void> Visits::take(size_t shard, const Result<Reply>& root) {
  if (const Error* const undone = shards_.why_let_alone(shard)) {
    lost(shard, *undone);
  } else if (!root) {
    lost(shard, root.error());
  } else if (root->at(8).is_text()) {
    take_root(shard, *root);
  } else {
    return ask_for_root(shard);
  }
  return {};
}

/// None is there: a call says whether the queue is gone or this shard has lost it. Where another one made it
/// meanwhile the next look shows what it has.
Result<void> Visits::ask_for_root(size_t shard) {
  const Result<Reply> called = shards_.at(shard).shard().tick();
  if (!called && called.error().kind == ErrorKind::missing) return called.error();
  if (!called) cannot_do(shard, called.error());
  return {};
}

void Visits::take_root(size_t shard, const Reply& root) {
  const auto weight_in = [&](size_t field) {
    const double told = std::strtod(root.at(field).text.c_str(), nullptr) / kWeightOfOne;
    return std::isfinite(told) ? told : 0;
  };
  purses_.know(shard, root.at(4).text);
  waiters_ = std::max(waiters_, waiters_in(root.at(5)));
  const double open = weight_in(0);
  all_[shard].is_open = open > 0;
  note(all_[shard], open > 0 ? open : purses_.is_wanting(shard) ? weight_in(3) : 0);
  all_[shard].time = ShardTime(root.at(6), root.at(7));
  all_[shard].due_ms = time_in(root.at(1));
  all_[shard].session_end_ms = time_in(root.at(2));
}

std::optional<Error> Visits::lasting_fault() const {
  const auto lasts = [](const auto& each) { return !is_away(each.second); };
  const auto found = std::find_if(faults_.begin(), faults_.end(), lasts);
  return found == faults_.end() ? std::nullopt : std::optional(found->second);
}

void Visits::tell_lost() {
  shards_.forget_away();
  for (const auto& [shard, error] : faults_) shards_.note_away(shard, error);
}

void Visits::lost(size_t shard, Error error) {
  all_[shard].weight = 0;
  all_[shard].is_open = false;
  purses_.forget(shard);
  all_[shard].due_ms = all_[shard].session_end_ms = -1;
  all_[shard].is_spent = true;
  faults_.insert_or_assign(shard, std::move(error));
}

void Visits::cannot_do(size_t shard, const Error& error) {
  shards_.let_alone(shard, error);
  lost(shard, error);
}

Result<void> Visits::look(bool fresh) {
  const int64_t our_ms = system_clock().boot_ms();
  const bool is_known = looked_at_ms_ >= 0 && our_ms - looked_at_ms_ < kFreshMs && !shards_.told_ms();
  if (is_known && !fresh) return {};
  constexpr std::array<std::string_view, 9> kFields = {"open",    "due", "session", "weight", "lent",
                                                       "waiters", "now", "lead",    "schema"};
  std::vector<std::vector<std::string>> commands;
  for (size_t shard = 0; shard < all_.size(); ++shard)
    commands.push_back(shards_.root_command(shard, kFields));
  for (const size_t shard : watched_)
    commands.push_back({"LLEN", shards_.tag(shard) + "sw:" + shards_.nonce()});
  shards_.add_clocks(commands);
  const std::vector<Result<Reply>> replies = shards_.ask_each(commands);
  for (const Result<Reply>& each : replies) {
    if (!each && !is_away(each.error())) return each.error();
  }
  faults_.clear();
  waiters_ = 0;
  take_tolls(replies);
  for (size_t shard = 0; shard < all_.size(); ++shard) FQ_TRY(take(shard, replies[shard]));
  if (faults_.size() == all_.size()) return nothing_asked(faults_.begin()->second);
  with_news_.clear();
  size_t at = all_.size();
  for (const size_t shard : watched_) {
    const Result<Reply>& news = replies[at++];
    if (news && news->number > 0) with_news_.push_back(shard);
  }
  looked_at_ms_ = system_clock().boot_ms();
  for (size_t shard = 0; shard < all_.size(); ++shard) {
    const int64_t clock_ms = shards_.clock_ms(replies, shard);  // 0: what was known of it stays
    if (clock_ms != 0) all_[shard].clock_ahead_ms = clock_ms - looked_at_ms_;
  }
  return {};
}

int64_t Visits::look_ms() const {
  return Patience(shards_.patience_ms(), kRootsASecond).ms(waiters_ * shards_.count());
}

void Visits::begin() {
  for (size_t shard = 0; shard < all_.size(); ++shard)
    all_[shard].is_spent = shards_.why_let_alone(shard) != nullptr || (is_put_off(shard) && !is_open(shard));
  purses_.begin();
}

bool Visits::is_candidate(size_t shard, std::optional<size_t> only) const {
  if (only) return shard == *only && !all_[shard].is_spent;
  return all_[shard].weight > 0 && !all_[shard].is_spent;
}

std::optional<Visits::Visit> Visits::next(size_t want, std::optional<size_t> only) const {
  std::optional<size_t> first, second;
  for (size_t shard = 0; shard < all_.size(); ++shard) {
    if (!is_candidate(shard, only)) continue;
    if (!first || all_[shard].tag < all_[*first].tag) {
      second = first;
      first = shard;
    } else if (!second || all_[shard].tag < all_[*second].tag) {
      second = shard;
    }
  }
  if (!first) return std::nullopt;
  // Who comes once pays nothing back: shards are drawn right where each visit takes as much.
  if (!second || usual_toll_ || !was_served_) return Visit{*first, want};
  const double turns = std::ceil((all_[*second].tag - all_[*first].tag) * all_[*first].weight);
  // Half of what is wanted at least: a call has its price, and what one is given too early it waits for
  // later.
  const size_t least = (want + 1) / 2;
  return Visit{*first,
               turns >= static_cast<double>(want) ? want : std::max(least, static_cast<size_t>(turns))};
}

void Visits::served(const Visit& visit, const RedisLeases::Added& given, bool is_empty) {
  Shard& shard = all_[visit.shard];
  was_served_ = was_served_ || given.count > 0;
  clock_ = std::max(clock_, shard.tag);
  const double cost = given.paid.cost / kTurn + static_cast<double>(given.paid.untold) * toll_of(shard);
  if (shard.weight > 0) shard.tag += cost / shard.weight;
  shard.is_spent = is_empty || given.count < visit.turns;
  if (!is_empty) return;
  shard.is_open = false;
  if (!purses_.is_wanting(visit.shard)) shard.weight = 0;
}

bool Visits::is_any_open() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Shard& shard) { return shard.weight > 0 && shard.is_open; });
}

std::vector<size_t> Visits::wanting() const {
  std::vector<size_t> found;
  for (size_t shard = 0; shard < all_.size(); ++shard) {
    if (all_[shard].weight > 0 && !all_[shard].is_open && !is_put_off(shard)) found.push_back(shard);
  }
  return found;
}

std::vector<size_t> Visits::due() const {
  std::vector<size_t> found;
  for (size_t shard = 0; shard < all_.size(); ++shard) {
    const Shard& each = all_[shard];
    const int64_t clock_ms = this->clock_ms(each), now_ms = each.time.at(clock_ms);
    const auto is_over = [&](int64_t at_ms) { return at_ms >= 0 && at_ms <= now_ms; };
    if (is_over(each.due_ms) || is_over(each.session_end_ms) || each.time.wants_call(clock_ms))
      found.push_back(shard);
  }
  return found;
}

std::optional<int64_t> Visits::next_due_ms() const {
  std::optional<int64_t> first;
  for (const Shard& shard : all_) {
    const int64_t in_ms = shard.due_ms - shard.time.at(clock_ms(shard));
    if (shard.due_ms >= 0 && (!first || in_ms < *first)) first = in_ms;
  }
  for (const auto& [home, token_ms] : purses_.next_ms()) {
    const int64_t in_ms = std::max(kTokenMinMs, token_ms - clock_ms(all_[home]));
    first = std::min(first.value_or(in_ms), in_ms);
  }
  return first;
}

}  // namespace fq
