// far_run - a run output whose server answers when it is told to, or takes its time.
#pragma once

// System.
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
// fq, below us.
#include "core/api/job_output.h"

namespace fq::test {

/// What its server has heard, and how it answers.
class FarServer {
 public:
  explicit FarServer(int64_t answer_ms = 0) : answer_ms_(answer_ms) {}
  /// From now on nothing is answered, or all that was asked.
  void answer(bool answers) {
    const std::lock_guard lock(mutex_);
    answers_ = answers;
    changed_.notify_all();
  }
  void refuse_to_open() { set(&FarServer::refuses_); }
  void have_room(bool room) {
    const std::lock_guard lock(mutex_);
    has_room_ = room;
  }
  /// Whoever finds no room has some when it asks again, and for a while.
  void be_read_meanwhile() { set(&FarServer::is_read_meanwhile_); }
  /// "open out:3 close": in that order; pieces of one channel that follow each other are told as one.
  std::string heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }

  void hear(const std::string& word, std::string_view bytes = {}) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return answers_; });
    if (answer_ms_ > 0) changed_.wait_for(lock, std::chrono::milliseconds(answer_ms_), [] { return false; });
    text_ += bytes;
    if (!heard_.ends_with(word)) heard_ += (heard_.empty() ? "" : " ") + word;
  }
  bool refuses() {
    const std::lock_guard lock(mutex_);
    return refuses_;
  }
  bool has_room() {
    const std::lock_guard lock(mutex_);
    return is_read_meanwhile_ ? ++asked_ % 3 != 1 : has_room_;
  }

 private:
  void set(bool FarServer::*what) {
    const std::lock_guard lock(mutex_);
    this->*what = true;
  }

  const int64_t answer_ms_;
  std::mutex mutex_;  // guards what follows
  bool answers_ = true, refuses_ = false, has_room_ = true, is_read_meanwhile_ = false;
  size_t asked_ = 0;  // whether there is room
  std::string heard_, text_;
  std::condition_variable changed_;
};

class FarRun final : public RunOutput {
 public:
  explicit FarRun(FarServer& server) : server_(server) {}
  ~FarRun() override {
    if (open_) server_.hear("leave");
  }
  bool is_far() const override { return true; }
  bool is_called() const override { return false; }
  Result<void> open() override {
    server_.hear("open");
    open_ = !server_.refuses();
    if (open_) return {};
    return Error{ErrorKind::later, "the server is full", 0};
  }
  bool has_room(Channel channel) override { return channel == Channel::err || server_.has_room(); }
  void write(Channel channel, std::string_view bytes) override {
    server_.hear(channel == Channel::out ? "out" : "err", bytes);
    kept_bytes_ += bytes.size();
  }
  void close() override { server_.hear("close"); }
  uint64_t kept_bytes(Channel) const override { return kept_bytes_; }
  Gap gap(Channel) const override { return {}; }
  Result<void> read_kept(Channel, uint64_t, MutableBytes) const override { return {}; }

 private:
  FarServer& server_;
  bool open_ = false;
  uint64_t kept_bytes_ = 0;
};

}  // namespace fq::test
