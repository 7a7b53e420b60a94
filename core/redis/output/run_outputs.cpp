#include "core/redis/output/run_outputs.h"

// System.
#include <unistd.h>

#include <algorithm>
#include <array>
// fq, below us.
#include "core/base/text/decimal.h"
// fq, this room.
#include "core/redis/output/kept_halves.h"

namespace fq {

namespace {

constexpr uint64_t kHeldBackBytes = 1 << 20;  // so much that its caller has not read: the job waits
constexpr size_t kPieceBytes = 256 * 1024;    // of one call

class RedisRunOutput final : public RunOutput {
 public:
  RedisRunOutput(std::shared_ptr<RedisRunShelf> shelf, const Delivery& delivery, const RunTerms& terms)
      : shelf_(std::move(shelf)),
        id_(std::to_string(number(delivery.id))),
        delivery_(std::to_string(delivery.delivery)),
        call_(delivery.call ? number(*delivery.call) : 0),
        waits_(terms.waits_for_call),
        channels_{Part(std::min(terms.bytes_max, kRedisKeptBytesMax)),
                  Part(std::min(terms.bytes_max, kRedisKeptBytesMax))} {}

  ~RedisRunOutput() override {
    if (!open_) return;
    close();
    const std::lock_guard lock(shelf_->mutex);
    end(shelf_->shard.change("change", {"run_leave", id_, delivery_}));
  }

  bool is_far() const override { return true; }
  bool is_called() const override { return call_ != 0; }

  Result<void> open() override {
    const std::string call = std::to_string(call_), pid = std::to_string(::getpid());
    const std::lock_guard lock(shelf_->mutex);
    shelf_->holdings->begin_run(name());
    Result<Reply> opened =
        shelf_->shard.change("change", {"run_open", id_, delivery_, call, waits_ ? "1" : "0", pid});
    open_ = opened.ok();
    if (open_) return {};
    end(opened);
    return std::move(opened).error();
  }

  bool has_room(Channel channel) override {
    Part& part = part_of(channel);
    if (!open_ || call_ == 0 || !waits_ || is_lost_) return true;
    // Held back once, until the half is read: else each read of the caller would let one of ours through.
    if (part.unread >= kHeldBackBytes || part.held) ask(channel);
    part.held = part.unread >= (part.held ? kHeldBackBytes / 2 : kHeldBackBytes) && call_ != 0;
    return !part.held;
  }

  void write(Channel channel, std::string_view bytes) override {
    part_of(channel).kept.write(bytes);
    for (; !bytes.empty(); bytes.remove_prefix(std::min(kPieceBytes, bytes.size())))
      send(channel, bytes.substr(0, kPieceBytes));
  }

  void close() override {
    if (!open_ || closed_) return;
    closed_ = true;
    const std::string lost[] = {std::to_string(channels_[0].lost), std::to_string(channels_[1].lost)};
    const std::lock_guard lock(shelf_->mutex);
    static_cast<void>(shelf_->shard.change("change", {"run_close", id_, delivery_, lost[0], lost[1]}));
  }

  uint64_t kept_bytes(Channel channel) const override { return part_of(channel).kept.kept_bytes(); }
  Gap gap(Channel channel) const override { return part_of(channel).kept.gap(); }
  Result<void> read_kept(Channel channel, uint64_t from, MutableBytes to) const override {
    const std::string text = part_of(channel).kept.text();
    const std::string_view piece = std::string_view(text).substr(from, to.size());
    std::copy(piece.begin(), piece.end(), reinterpret_cast<char*>(to.data()));
    return {};
  }

 private:
  struct Part {
    explicit Part(uint64_t bytes_max) : kept(bytes_max) {}
    KeptHalves kept;
    uint64_t unread = 0;  // by its caller, as the server said last
    uint64_t lost = 0;    // which the server did not take
    bool held = false;
  };
  static size_t index(Channel channel) { return static_cast<size_t>(channel); }
  Part& part_of(Channel channel) { return channels_.at(index(channel)); }
  const Part& part_of(Channel channel) const { return channels_.at(index(channel)); }
  /// As the server's program calls it: see runs.lua.
  std::string name() const { return id_ + ":" + delivery_; }
  /// Needs: the lock. `said`: to the word that it is over.
  void end(const Result<Reply>& said) {
    shelf_->holdings->end_run(name(), said ? shelf_->shard.server_run() : std::string());
  }
  static std::string_view name_of(Channel channel) { return channel == Channel::out ? "o" : "e"; }

  /// What a server says after a write, or when it is asked. Once dead, its caller stays so.
  void note(Channel channel, const Reply& said) {
    if (said.at(0).number == 0) call_ = 0;
    part_of(channel).unread = parse_decimal(said.at(1).text).value_or(0);
  }

  void ask(Channel channel) {
    const std::lock_guard lock(shelf_->mutex);
    const Result<Reply> reply = shelf_->shard.look({"run_state", id_, delivery_, name_of(channel)});
    if (reply) note(channel, reply->at(1));
    is_lost_ = !reply;
  }

  /// What a server did not take once it does not get later, either: it would lie behind a hole.
  void send(Channel channel, std::string_view piece) {
    if (!is_lost_) {
      const std::lock_guard lock(shelf_->mutex);
      const Result<Reply> reply = shelf_->shard.change("run", {id_, delivery_, name_of(channel), piece});
      if (reply) return note(channel, reply->at(1));
      is_lost_ = true;
    }
    part_of(channel).lost += piece.size();
  }

  const std::shared_ptr<RedisRunShelf> shelf_;
  const std::string id_, delivery_;
  uint64_t call_;  // 0: nobody listens for whom it would wait
  const bool waits_;
  bool open_ = false, closed_ = false;
  bool is_lost_ = false;  // the server took a piece no more
  std::array<Part, 2> channels_;
};

}  // namespace

std::shared_ptr<RunOutput> RedisRunOutputs::make(const Delivery& delivery, const RunTerms& terms) {
  if (!shelf_) shelf_ = std::make_shared<RedisRunShelf>(access_, tag_, nonce_, holdings_);
  return std::make_shared<RedisRunOutput>(shelf_, delivery, terms);
}

}  // namespace fq
