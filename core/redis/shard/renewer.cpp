#include "core/redis/shard/renewer.h"

// System.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace fq {

namespace {

constexpr auto kRenewAfter = std::chrono::seconds(5);  // of the 15 s after which the server gives up

/// What they have comes behind all signs: a server that hangs while it is told that keeps no sign from others.
void tell(const std::vector<LifeSign*>& signs) {
  Round round(signs[0]->link());
  for (LifeSign* const sign : signs) sign->add_to(round);
  round.tell();
  for (LifeSign* const sign : signs) sign->begin_telling();
  for (bool more = true; more;) {
    Round holdings(signs[0]->link());
    more = false;
    for (LifeSign* const sign : signs) more = sign->add_holdings_to(holdings) || more;
    holdings.tell();
  }
}

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
  changed_.wait(lock, [this, round = rounds_] { return !is_telling_ || rounds_ != round; });
}

void Renewer::renew() {
  std::unique_lock lock(mutex_);
  // From begin to begin: a round may last as long as a server that hangs is waited for.
  auto next = std::chrono::steady_clock::now() + kRenewAfter;
  while (!changed_.wait_until(lock, next, [this] { return is_over_; })) {
    next = std::chrono::steady_clock::now() + kRenewAfter;
    tell_all(lock);
  }
}

/// Those that come meanwhile are told of the next time.
void Renewer::tell_all(std::unique_lock<std::mutex>& lock) {
  if (signs_.empty()) return;
  const std::vector<LifeSign*> signs = signs_;
  is_telling_ = true, ++rounds_;
  lock.unlock();
  tell(signs);
  lock.lock();
  is_telling_ = false;
  changed_.notify_all();
}

}  // namespace fq
