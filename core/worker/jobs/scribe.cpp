#include "core/worker/jobs/scribe.h"

// System.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace fq::worker {

namespace {

size_t index(Channel channel) { return static_cast<size_t>(channel); }

}  // namespace

/// A run that is lent, and what is still to be done with it. All but `far` is under the desk's lock; `far` is
/// the thread's until it is closed, and again once it is left.
struct Scribe::Lent {
  struct Part {
    std::string text;         // to be passed on
    uint64_t open_bytes = 0;  // that and what is being passed on
    bool has_room = true;     // for all that the far one has said
    bool asks = false;        // whether it has room again
    std::string begin;        // refused: what is kept of it
    uint64_t lost_bytes = 0;  // and what is not
  };

  /// Needs: it was refused.
  void keep_begin(Part& part, std::string_view bytes) const {
    const std::string_view fits = bytes.substr(0, begin_bytes - part.begin.size());
    part.begin.append(fits);
    part.lost_bytes += bytes.size() - fits.size();
  }

  std::shared_ptr<RunOutput> far;
  uint64_t begin_bytes = 0;  // kept of each channel where it is refused
  std::array<Part, 2> parts;
  bool opens = false;                   // to be done
  bool closes = false, leaves = false;  // to be done, or done
  bool is_listed = false;
  bool is_refused = false;
  bool is_closed = false;
  std::string fault;
};

/// What the main thread and that of the scribe have together.
struct Scribe::Desk {
  /// Needs: the lock.
  void list(std::shared_ptr<Lent> lent) {
    if (std::exchange(lent->is_listed, true)) return;
    if (!thread.joinable() && !stops) thread = std::thread([this] { run(*this); });
    listed.push_back(std::move(lent));
    has_some.notify_one();
  }

  std::mutex mutex;  // guards what follows
  std::deque<std::shared_ptr<Lent>> listed;
  bool stops = false, is_abandoned = false;
  std::condition_variable has_some;
  std::thread thread;  // begun with the first that is listed
};

class Scribe::LentRun final : public RunOutput {
 public:
  LentRun(std::shared_ptr<Desk> desk, std::shared_ptr<RunOutput> far, uint64_t begin_bytes)
      : desk_(std::move(desk)), is_called_(far->is_called()), lent_(std::make_shared<Lent>()) {
    lent_->far = std::move(far);
    lent_->begin_bytes = begin_bytes;
  }
  ~LentRun() override {
    if (!was_opened_) return;
    const std::lock_guard lock(desk_->mutex);
    lent_->closes = lent_->leaves = true;
    desk_->list(std::move(lent_));
  }

  bool is_called() const override { return is_called_; }

  Result<void> open() override {
    was_opened_ = true;
    const std::lock_guard lock(desk_->mutex);
    lent_->opens = true;
    desk_->list(lent_);
    return {};
  }

  bool has_room(Channel channel) override {
    const std::lock_guard lock(desk_->mutex);
    Lent::Part& part = lent_->parts.at(index(channel));
    if (part.has_room) return part.open_bytes < kRoomBytes;
    part.asks = true;
    desk_->list(lent_);
    return false;
  }

  void write(Channel channel, std::string_view bytes) override {
    const std::lock_guard lock(desk_->mutex);
    Lent::Part& part = lent_->parts.at(index(channel));
    if (lent_->is_refused) return lent_->keep_begin(part, bytes);
    part.text.append(bytes);
    part.open_bytes += bytes.size();
    desk_->list(lent_);
  }

  void close() override {
    const std::lock_guard lock(desk_->mutex);
    if (std::exchange(lent_->closes, true)) return;
    desk_->list(lent_);
  }

  bool is_closed() const override {
    const std::lock_guard lock(desk_->mutex);
    return lent_->is_closed;
  }
  std::string fault() const override {
    const std::lock_guard lock(desk_->mutex);
    return lent_->fault;
  }

  // Closed, it is nobody's but ours.
  uint64_t kept_bytes(Channel channel) const override {
    return lent_->is_refused ? part_of(channel).begin.size() : lent_->far->kept_bytes(channel);
  }
  Gap gap(Channel channel) const override {
    if (!lent_->is_refused) return lent_->far->gap(channel);
    const Lent::Part& part = part_of(channel);
    return part.lost_bytes == 0 ? Gap{} : Gap{part.begin.size(), part.lost_bytes};
  }
  Result<void> read_kept(Channel channel, uint64_t from, MutableBytes to) const override {
    if (!lent_->is_refused) return lent_->far->read_kept(channel, from, to);
    const std::string_view piece = std::string_view(part_of(channel).begin).substr(from, to.size());
    std::copy(piece.begin(), piece.end(), reinterpret_cast<char*>(to.data()));
    return {};
  }

 private:
  const Lent::Part& part_of(Channel channel) const { return lent_->parts.at(index(channel)); }

  const std::shared_ptr<Desk> desk_;
  const bool is_called_;
  bool was_opened_ = false;
  std::shared_ptr<Lent> lent_;
};

std::shared_ptr<Scribe::Desk> Scribe::make_desk() { return std::make_shared<Desk>(); }

Scribe::~Scribe() {
  {
    const std::lock_guard lock(desk_->mutex);
    desk_->stops = true;
  }
  desk_->has_some.notify_one();
  if (desk_->thread.joinable()) desk_->thread.join();
}

void Scribe::abandon() {
  const std::lock_guard lock(desk_->mutex);
  desk_->is_abandoned = true;
  // To end a run its server is called, too: none of them is destroyed.
  static auto* const left = new std::vector<std::shared_ptr<Desk>>;
  left->push_back(desk_);
}

std::shared_ptr<RunOutput> Scribe::lend(std::shared_ptr<RunOutput> far, uint64_t bytes_max) {
  return std::make_shared<LentRun>(desk_, std::move(far), std::min(bytes_max, kBeginBytes));
}

void Scribe::run(Desk& desk) {
  std::unique_lock lock(desk.mutex);
  for (;;) {
    desk.has_some.wait(lock, [&] { return desk.stops || !desk.listed.empty(); });
    if (desk.listed.empty() || desk.is_abandoned) return;
    const std::shared_ptr<Lent> lent = std::move(desk.listed.front());
    desk.listed.pop_front();
    pass_on(*lent, lock);
  }
}

/// All that there is to be done with it now. Needs: the lock, which is not held meanwhile.
void Scribe::pass_on(Lent& lent, std::unique_lock<std::mutex>& lock) {
  lent.is_listed = false;
  const bool opens = std::exchange(lent.opens, false);
  const bool closes = lent.closes && !lent.is_closed;
  const bool leaves = lent.leaves;
  bool refused = lent.is_refused;
  std::array<std::string, 2> texts;
  std::array<bool, 2> asks{};
  for (size_t i = 0; i < 2; ++i) {
    texts[i].swap(lent.parts[i].text);
    asks[i] = std::exchange(lent.parts[i].asks, false) || !texts[i].empty();
  }
  lock.unlock();
  Result<void> opened;
  if (opens) opened = lent.far->open();
  refused = refused || !opened.ok();
  std::array<bool, 2> has_room{true, true};
  for (const Channel channel : kChannels) {
    if (refused || !asks[index(channel)]) continue;
    if (!texts[index(channel)].empty()) lent.far->write(channel, texts[index(channel)]);
    has_room[index(channel)] = lent.far->has_room(channel);
  }
  if (closes && !refused) lent.far->close();
  if (leaves) lent.far.reset();
  lock.lock();
  if (!opened.ok()) lent.fault = opened.error().text;
  for (size_t i = 0; i < 2; ++i) {
    Lent::Part& part = lent.parts[i];
    part.open_bytes -= texts[i].size();
    if (asks[i]) part.has_room = has_room[i];
    if (!refused) continue;
    // What came since then comes behind.
    lent.keep_begin(part, texts[i]);
    lent.keep_begin(part, std::exchange(part.text, std::string()));
    part.open_bytes = 0;
  }
  lent.is_refused = refused;
  lent.is_closed = lent.is_closed || closes;
}

}  // namespace fq::worker
