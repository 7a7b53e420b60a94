#include "core/local/consume/run_outputs.h"

// fq, below us.
#include "core/base/fault_point.h"

namespace fq {

namespace {

class LocalRunOutput final : public RunOutput {
 public:
  LocalRunOutput(std::shared_ptr<RunShelf> shelf, const RunFile::Name& name, uint64_t call,
                 const RunTerms& terms)
      : shelf_(std::move(shelf)), name_(name), call_(call), terms_(terms) {}

  ~LocalRunOutput() override {
    if (!file_) return;
    close();
    // The caller takes it away itself, when it has read it; should it die before, whoever sweeps does.
    if (!calls()) static_cast<void>(shelf_->disk->remove(RunFile::path_of(name_)));
    FQ_POINT("run.left");
  }

  bool is_called() const override { return call_ != 0; }

  Result<void> open() override {
    FQ_TRY_SET(file_, RunFile::make(*shelf_->disk, name_, call_, terms_.bytes_max));
    return {};
  }

  bool has_room(Channel channel) override {
    if (!file_ || call_ == 0 || !terms_.waits_for_call) return true;
    // Held back once, until the half is read: else each read of the caller would let one of ours through.
    bool& held = held_[static_cast<size_t>(channel)];
    held = file_->unread(channel) >= (held ? kRunHeldBackBytes / 2 : kRunHeldBackBytes) && calls();
    return !held;
  }

  void write(Channel channel, std::string_view bytes) override {
    file_->write(channel, bytes);
    announce(shelf_->calls->bell(name_.id));
  }

  void close() override {
    if (!file_ || file_->is_over()) return;
    file_->close();
    FQ_POINT("run.closed");
    announce(shelf_->calls->bell(name_.id));
  }

  uint64_t kept_bytes(Channel channel) const override { return file_->kept_bytes(channel); }
  Gap gap(Channel channel) const override { return file_->gap(channel); }
  Result<void> read_kept(Channel channel, uint64_t from, MutableBytes to) const override {
    return file_->read_kept(channel, from, to);
  }

 private:
  /// Once dead, its caller stays so.
  bool calls() {
    if (call_ != 0 && !shelf_->calls->goes_on(CallId{call_})) call_ = 0;
    return call_ != 0;
  }

  const std::shared_ptr<RunShelf> shelf_;
  const RunFile::Name name_;
  uint64_t call_;  // 0: nobody listens for whom it would wait
  const RunTerms terms_;
  std::unique_ptr<RunFile> file_;
  bool held_[2] = {false, false};
};

}  // namespace

Result<std::shared_ptr<RunShelf>> RunOutputs::shelf() {
  if (shelf_) return shelf_;
  auto shelf = std::make_shared<RunShelf>();
  FQ_TRY_SET(shelf->disk, disk().again());
  FQ_TRY_SET(shelf->calls, Calls::open(*shelf->disk));
  if (shelf->calls) shelf_ = std::move(shelf);
  return shelf_;
}

Result<CallId> RunOutputs::begin_call() {
  if (!own_) {
    FQ_TRY_SET(own_, Calls::open(disk()));
  }
  if (!own_) return Error{ErrorKind::unusable, object() + ": nobody can listen to a job here", 0};
  return own_->begin();
}

void RunOutputs::end_call(CallId call) {
  if (own_) own_->end(call);
}

Result<std::shared_ptr<RunOutput>> RunOutputs::make(const Delivery& delivery, const RunTerms& terms) {
  FQ_TRY_SET(std::shared_ptr<RunShelf> on, shelf());
  if (!on) return std::shared_ptr<RunOutput>();
  const uint64_t call = delivery.call ? number(*delivery.call) : 0;
  return std::shared_ptr<RunOutput>(std::make_shared<LocalRunOutput>(
      std::move(on), RunFile::Name{delivery.id, delivery.delivery}, call, terms));
}

}  // namespace fq
