#include "core/redis/sharded/purses.h"

// System.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
// fq, below us.
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

constexpr int kBorrowsMax = 6;  // of a loan that others get in the way of
constexpr int kRoomsMax = 8;    // for a push that others get in the way of
constexpr uint64_t kTagMax = uint64_t{1} << 52;
constexpr std::array<std::string_view, 2> kLentFields = {"lent", "schema"};  // each root has the latter

std::string epoch_of(const LentUnits& units) { return Packer().number(units.age).number(units.tag).bytes(); }

size_t whole_in(const Reply& reply) {
  return reply.text.empty() ? static_cast<size_t>(reply.number) : parse_decimal(reply.text).value_or(0);
}

std::string loan_bytes(const std::string& name, const Purses::Loan& loan) {
  return Packer()
      .raw(loan.epoch)
      .number(loan.number)
      .number(loan.units)
      .number(loan.until_ms)
      .number(static_cast<uint16_t>(name.size()))
      .raw(name)
      .bytes();
}

/// -1: nobody knows, or it is of no rate.
int64_t token_in(const Reply& told) { return told.text.empty() ? -1 : time_in(told); }

std::string title_of(const std::string& name) {
  if (name == kMessages) return "the queue, max_messages";
  if (name == kBytes) return "the queue, max_bytes";
  const std::string pool = name.substr(kRunning.size());
  return (pool.empty() ? "the queue" : "pool " + pool) + (name.starts_with(kRate) ? ", rate" : "");
}

/// Of one shard.
class ShardLender final : public RoomLender {
 public:
  ShardLender(Purses& purses, size_t shard) : purses_(purses), shard_(shard) {}
  Result<void> make_room(const Lack& lack, int times) override {
    return purses_.make_room(shard_, lack, times);
  }
  Result<void> count_anew() override { return purses_.count_anew(); }

 private:
  Purses& purses_;
  size_t shard_;
};

}  // namespace

Purses::Purses(Shards& shards) : shards_(shards), known_(shards.count()) {
  shards_.are_lent_room_by([this](size_t shard) { return std::make_unique<ShardLender>(*this, shard); });
}

void Purses::know(size_t shard, std::string_view lent) { known_[shard] = read_lent(lent); }

bool Purses::are_used() const {
  const auto is_used = [](const LentUnits& each) { return is_of_runs(each.name); };
  return std::any_of(known_.begin(), known_.end(), [&](const auto& each) {
    return each && std::any_of(each->limits.begin(), each->limits.end(), is_used);
  });
}

bool Purses::is_wanting(size_t shard) const {
  if (!known_[shard]) return false;
  const std::vector<LentUnits>& limits = known_[shard]->limits;
  return std::any_of(limits.begin(), limits.end(), [](const LentUnits& each) { return each.wanted > 0; });
}

/// What a purse cannot be asked for now, nobody has.
Result<std::string> Purses::fetch(size_t shard, size_t want, bool was_in_vain) {
  std::string loans;
  if (!was_in_vain) brought_.clear();
  if (!known_[shard]) return loans;
  const std::vector<LentUnits> limits = known_[shard]->limits;  // these change meanwhile
  for (const LentUnits& each : limits) {
    if (each.wanted <= 0 || empty_.contains(each.name) || brought_.contains(each.name)) continue;
    const auto loan = borrow(each.name, shard, std::min(static_cast<double>(want), each.wanted), 0);
    if (!loan && !serves_nothing(loan.error())) return loan.error();
    if (loan && *loan)
      loans += loan_bytes(each.name, **loan), brought_.insert(each.name);
    else
      empty_.insert(each.name);
  }
  return loans;
}

Result<std::optional<Purses::Loan>> Purses::borrow(const std::string& name, size_t shard, double want,
                                                   double block) {
  const std::optional<Loan> none;
  bool has_taken_back = false;
  for (int tries = 0; tries < kBorrowsMax; ++tries) {
    FQ_TRY_SET(const Reply answer, ask(name, shard, std::max(want, block)));
    const std::string& said = answer.at(0).text;
    if (said == "loan") {
      return std::optional(Loan{answer.at(1).text, static_cast<double>(whole_in(answer.at(2))),
                                static_cast<double>(whole_in(answer.at(3))),
                                static_cast<double>(whole_in(answer.at(4)))});
    }
    bool goes_on = said == "later" && want == 0;  // what was told of an earlier limit is forgotten now
    if (said == "join") {
      FQ_TRY_SET(goes_on, join(name, answer));
    }
    const int64_t token_ms = said == "none" ? token_in(answer.at(3)) : -1;
    if (token_ms >= 0) {
      int64_t& next_ms = next_ms_.try_emplace(shards_.of_tenant(name), token_ms).first->second;
      next_ms = std::min(next_ms, token_ms);
    }
    if (said == "none" && want > 0 && !has_taken_back) {
      has_taken_back = true;
      FQ_TRY_SET(goes_on, take_back(name, answer, shard, want));
    }
    if (!goes_on) return none;
  }
  return none;
}

/// A schedule whose time comes in that call makes its message later.
Result<Reply> Purses::call(size_t shard, const std::vector<std::string_view>& words) {
  const bool was_calling = std::exchange(is_calling_, true);
  Result<Reply> reply = shards_.at(shard).shard().change("change", words, Shard::Lost::is_repeated);
  is_calling_ = was_calling;
  return reply;
}

Result<bool> Purses::do_what_is_due() {
  const bool was_calling = std::exchange(is_calling_, true);
  Result<bool> done = shards_.do_what_is_due();
  is_calling_ = was_calling;
  return done;
}

Purses::Total Purses::total_of(std::string_view name) const {
  Total total;
  for (const std::optional<LentRecord>& record : known_) {
    const LentUnits* const each = record ? record->find(name) : nullptr;
    if (each == nullptr) continue;
    total.most = std::max(total.most, each->most);
    total.share += each->share;
    total.used += each->used;
  }
  total.is_full = total.used >= total.most;
  return total;
}

/// More than is lacking, where there is more: the next push need not ask.
Result<void> Purses::make_room(size_t shard, const Lack& lack, int times) {
  const std::string name(lack.what == "messages" ? kMessages : kBytes);
  if (!is_calling_) FQ_TRY(know_all());
  const auto share = [&] {
    const LentUnits* const units = known_[shard] ? known_[shard]->find(name) : nullptr;
    return units == nullptr ? 0 : units->share;
  };
  const double block = std::floor(lack.most / (4 * static_cast<double>(shards_.count())));
  bool goes_on = !is_calling_ && times < kRoomsMax;
  bool is_all_done = false;
  for (double missing = lack.lacks; goes_on && missing > 0;) {
    const double there = total_of(name).used;
    const bool is_full = there + lack.came > lack.most;
    if (is_full && is_all_done) return full_over_shards(lack, there);
    if (is_full) {
      is_all_done = true;
      FQ_TRY_SET(const bool may_have_room, do_what_is_due());
      if (!may_have_room) return full_over_shards(lack, there);
      FQ_TRY(know_all());
      continue;
    }
    FQ_TRY_SET(const std::optional<Loan> loan, borrow(name, shard, missing, block));
    goes_on = loan.has_value();
    if (!goes_on) break;
    const double before = share();
    FQ_TRY_SET(const Reply reply, call(shard, {"lent_take", loan_bytes(name, *loan)}));
    know(shard, reply.at(1).at(0).text);
    // Another client may have brought it before.
    missing = share() > before ? missing - (share() - before) : 0;
  }
  return goes_on ? Result<void>() : full_over_shards(lack, total_of(name).used);
}

std::string Purses::told_of_all(const std::string& name) const {
  Packer told;
  for (size_t shard = 0; shard < known_.size(); ++shard) {
    const LentUnits* const units = known_[shard] ? known_[shard]->find(name) : nullptr;
    if (units == nullptr) continue;
    told.number(static_cast<double>(shard));
    for (const double each :
         {units->age, units->tag, units->loans, units->share, units->most, units->interval, units->since})
      told.number(each);
  }
  return told.bytes();
}

/// Whoever asks twice is lent the same.
Result<Reply> Purses::ask(const std::string& name, size_t shard, double want) {
  double age = 0;
  for (const std::optional<LentRecord>& each : known_) age = std::max(age, each ? each->age : 0);
  Packer asked;
  asked.number(static_cast<double>(shards_.count()))
      .number(static_cast<double>(shard))
      .number(want)
      .number(age)
      .number(static_cast<double>(random_() % kTagMax));
  const std::string told = told_of_all(name);
  FQ_TRY_SET(const Reply reply, call(shards_.of_tenant(name), {"purse", name, asked.bytes(), told}));
  return reply.at(1);
}

Result<bool> Purses::join(const std::string& name, const Reply& answer) {
  const std::vector<Reply>& missing = answer.at(2).items;
  const auto is_known = [&](const Reply& each) {
    return whole_in(each) < known_.size() && known_[whole_in(each)];
  };
  // One of them is away: the others keep what they have. Of a rate they have nothing.
  if (!name.starts_with(kRate) && !std::all_of(missing.begin(), missing.end(), is_known)) return false;
  bool has_joined = false;
  for (const Reply& each : missing) {
    if (!is_known(each)) continue;
    const size_t shard = whole_in(each);
    FQ_TRY_SET(const Reply reply, call(shard, {"lent_join", name, answer.at(1).text}));
    know(shard, reply.at(1).at(0).text);
    if (known_[shard]->find(name) == nullptr) return false;  // it has other settings yet
    has_joined = true;
  }
  return has_joined;
}

/// Those but one that have units of this epoch which they do not use, the most first.
std::vector<size_t> Purses::holders(const std::string& name, const std::string& epoch, size_t but) const {
  std::vector<std::pair<double, size_t>> found;
  for (size_t shard = 0; shard < known_.size(); ++shard) {
    const LentUnits* const units = known_[shard] ? known_[shard]->find(name) : nullptr;
    if (shard != but && units != nullptr && units->interval == 0 && units->spare() > 0 &&
        epoch_of(*units) == epoch)
      found.emplace_back(-units->spare(), shard);
  }
  std::sort(found.begin(), found.end());
  std::vector<size_t> shards;
  for (const auto& [spare, shard] : found) shards.push_back(shard);
  return shards;
}

Result<void> Purses::give(size_t shard, const std::string& name, const std::string& epoch,
                          const std::string& loan) {
  FQ_TRY_SET(const Reply reply, call(shard, {"lent_give", name, epoch, loan}));
  know(shard, reply.at(1).at(0).text);
  return {};
}

Result<bool> Purses::take_back(const std::string& name, const Reply& answer, size_t asks, double want) {
  const std::string& epoch = answer.at(1).text;
  bool has_given = false;
  const std::vector<Reply>& late = answer.at(2).items;
  for (size_t i = 0; i + 1 < late.size(); i += 2) {
    const size_t shard = whole_in(late[i]);
    if (shard >= known_.size() || !known_[shard]) continue;
    const Result<void> given = give(shard, name, epoch, late[i + 1].text);
    if (!given && !serves_nothing(given.error())) return given.error();
    has_given = has_given || given.ok();
  }
  double gained = 0;
  for (const size_t shard : holders(name, epoch, asks)) {
    if (gained >= want) break;
    const double before = known_[shard]->find(name)->share;
    const Result<void> given = give(shard, name, epoch, "0");
    if (!given && !serves_nothing(given.error())) return given.error();
    const LentUnits* const units = given ? known_[shard]->find(name) : nullptr;
    gained += units == nullptr ? 0 : before - units->share;
  }
  return has_given || gained > 0;
}

Result<void> Purses::add_token(const std::string& name, Total& total) {
  const std::string told = told_of_all(name);
  total.is_full = true;
  const Result<Reply> purse = shards_.at(shards_.of_tenant(name)).shard().look({"purse", name, told});
  if (!purse) return serves_nothing(purse.error()) ? Result<void>() : purse.error();
  const int64_t at_ms = token_in(purse->at(1).at(2));
  total.is_full = at_ms < 0 || at_ms > clock_in(*purse);
  if (at_ms >= 0 && total.is_full) total.free_at_ms = at_ms;
  return {};
}

Result<void> Purses::know_all() {
  const std::vector<Result<Reply>> roots = shards_.roots_each(kLentFields);
  for (size_t shard = 0; shard < roots.size(); ++shard) {
    if (!roots[shard] && !is_away(roots[shard].error())) return roots[shard].error();
    if (roots[shard] && roots[shard]->at(1).is_text())
      know(shard, roots[shard]->at(0).text);
    else
      forget(shard);
  }
  return {};
}

Result<std::map<std::string, Purses::Total>> Purses::totals() {
  FQ_TRY(know_all());
  std::map<std::string, Total> totals;
  for (const std::optional<LentRecord>& record : known_) {
    for (const LentUnits& each : record ? record->limits : std::vector<LentUnits>())
      totals.try_emplace(each.name, total_of(each.name));
  }
  for (auto& [name, total] : totals) {
    if (name.starts_with(kRate)) FQ_TRY(add_token(name, total));
  }
  return totals;
}

Result<std::optional<std::vector<std::string>>> Purses::faults() {
  constexpr std::array<std::string_view, 1> kChanges = {"ops"};
  const auto changes = [&]() -> Result<std::string> {
    std::string all;
    for (const Result<Reply>& root : shards_.roots_each(kChanges))
      all += root ? root->at(0).text + " " : std::string("away ");
    return all;
  };
  FQ_TRY_SET(const std::string before, changes());
  FQ_TRY_SET(const auto all, totals());
  std::vector<std::string> faults;
  for (const auto& [name, total] : all) {
    const std::string what = title_of(name);
    const bool is_kept = !name.starts_with(kRate);  // what is left of a loan of starts is nobody's
    if (is_kept && total.share > std::max(total.most, total.used))
      faults.push_back(what + ": its shards were lent more of its limit than there is");
    const size_t home = shards_.of_tenant(name);
    if (!known_[home]) continue;
    FQ_TRY_SET(const Reply purse, shards_.at(home).shard().look({"purse", name, ""}));
    const std::string& epoch = purse.at(1).at(0).text;
    const std::vector<Reply>& bounds = purse.at(1).at(1).items;
    for (size_t i = 0; i + 2 < bounds.size(); i += 3) {
      const size_t shard = whole_in(bounds[i]);
      const LentUnits* const units =
          shard < known_.size() && known_[shard] ? known_[shard]->find(name) : nullptr;
      const bool is_of_it = units != nullptr && units->loans >= 0 && epoch_of(*units) == epoch;
      if (is_of_it && is_kept && units->share > static_cast<double>(whole_in(bounds[i + 1])))
        faults.push_back(what + ": shard " + std::to_string(shard) +
                         " has more of its limit than its purse says");
      if (is_of_it && units->loans > static_cast<double>(whole_in(bounds[i + 2])))
        faults.push_back(what + ": shard " + std::to_string(shard) +
                         " has a loan of which its purse does not know");
    }
  }
  FQ_TRY_SET(const std::string after, changes());
  if (before != after) return std::optional<std::vector<std::string>>();
  return std::optional(std::move(faults));
}

Result<void> Purses::mend() {
  for (size_t shard = 0; shard < shards_.count(); ++shard) {
    const Result<Reply> forgotten = call(shard, {"lent_forget"});
    if (!forgotten && !says_lost_root(forgotten.error())) return forgotten.error();  // that has forgotten all
  }
  return count_anew();
}

Result<void> Purses::count_anew() {
  if (is_calling_) return {};
  FQ_TRY(know_all());
  std::set<std::string> names;
  for (const std::optional<LentRecord>& record : known_) {
    if (!record) continue;
    for (const LentUnits& each : record->limits) names.insert(each.name);
  }
  for (const std::string& name : names) {
    const auto done = borrow(name, 0, 0, 0);
    if (!done && !serves_nothing(done.error())) return done.error();
  }
  return {};
}

}  // namespace fq
