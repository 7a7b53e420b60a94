#include "core/redis/shard/holdings.h"

// System.
#include <algorithm>
// fq, this room.
#include "core/redis/records/packing.h"

namespace fq {

namespace {

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& each : words) text.append(each).append(" ");
  return text;
}

}  // namespace

void Holdings::note_lease(uint64_t id, uint64_t serial, bool by_living) {
  const std::lock_guard lock(mutex_);
  heard_serial_ = std::max(heard_serial_, serial);
  if (by_living) leases_[id] = serial;
}

uint64_t Holdings::heard_serial() const {
  const std::lock_guard lock(mutex_);
  return heard_serial_;
}

void Holdings::end_lease(uint64_t id, uint64_t serial, const std::string& by) {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(id);
  if (found == leases_.end() || found->second != serial) return;
  leases_.erase(found);
  heard_.insert(by);
}

void Holdings::begin(std::set<std::string>& list, const std::string& what) {
  std::unique_lock lock(mutex_);
  is_over_.wait(lock, [this] { return !is_telling_; });
  list.insert(what);
}

void Holdings::begin_run(const std::string& name) { begin(runs_, name); }

void Holdings::end_run(const std::string& name, const std::string& by) {
  const std::lock_guard lock(mutex_);
  if (runs_.erase(name) > 0) heard_.insert(by);
}

void Holdings::begin_call(const std::string& number) { begin(calls_, number); }

void Holdings::end_call(const std::string& number, const std::string& by) {
  const std::lock_guard lock(mutex_);
  if (calls_.erase(number) > 0) heard_.insert(by);
}

bool Holdings::is_told(const std::string& server) const {
  const std::lock_guard lock(mutex_);
  return told_ == server &&
         std::all_of(heard_.begin(), heard_.end(), [&](const std::string& each) { return each == server; });
}

/// What ends while it is told is in it, and has to be told again where another server heard of that.
Holdings::Words Holdings::begin_telling() {
  const std::lock_guard lock(mutex_);
  is_telling_ = true;
  told_.reset();
  heard_.clear();
  Packer leases;
  for (const auto& [id, serial] : leases_)
    leases.number(static_cast<double>(id)).number(static_cast<double>(serial));
  return {std::to_string(heard_serial_), leases.bytes(), joined(runs_), joined(calls_)};
}

void Holdings::end_telling(const std::string& server) {
  {
    const std::lock_guard lock(mutex_);
    is_telling_ = false;
    if (!server.empty()) told_ = server;
  }
  is_over_.notify_all();
}

}  // namespace fq
