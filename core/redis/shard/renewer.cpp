#include "core/redis/shard/renewer.h"

// System.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace fq {

namespace {

constexpr auto kRenewAfter = std::chrono::seconds(5);  // of the 15 s after which the server gives up

}  // namespace

Renewer::~Renewer() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Renewer::add(LifeSign& sign) {
  {
    const std::lock_guard lock(mutex_);
    signs_.push_back(&sign);
  }
  if (thread_.joinable()) return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for those who expect them
  thread_ = std::thread([this] { renew(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Renewer::remove(LifeSign& sign) {
  std::unique_lock lock(mutex_);
  signs_.erase(std::remove(signs_.begin(), signs_.end(), &sign), signs_.end());
  changed_.wait(lock, [&] { return current_ != &sign; });
}

void Renewer::renew() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kRenewAfter, [this] { return is_over_; })) renew_all(lock);
}

/// They may come and go meanwhile: one that is passed over so is given the next time.
void Renewer::renew_all(std::unique_lock<std::mutex>& lock) {
  for (size_t i = 0; i < signs_.size() && !is_over_; ++i) {
    current_ = signs_[i];
    lock.unlock();
    current_->give();
    lock.lock();
    current_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace fq
