#include "core/redis/guard/guard.h"

// System.
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <numeric>
#include <vector>
// fq, below us.
#include "core/base/clock.h"
#include "core/base/process_state.h"
// fq, this room.
#include "core/redis/catalog/queue_entry.h"
#include "core/redis/guard/packet.h"
#include "core/redis/records/packing.h"
#include "core/redis/shard/round.h"

namespace fq {

namespace {

constexpr int64_t kRenewMs = 5'000;    // of the 15 s after which a server gives up
constexpr int64_t kUnheardMs = 1'000;  // where a server did not hear it
constexpr int64_t kGiveUpMs = 60'000;  // by then each server has given up the session itself

/// Each job has one.
void allow_many_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Result<GuardedWorker> hear_worker(const Descriptor& socket) {
  const Error stranger{ErrorKind::usage, "its input is no worker's; fq worker starts it", 0};
  Result<Packet> packet = receive_packet(socket);
  if (!packet || word_of(packet->text) != GuardWord::worker) return stranger;
  std::optional<GuardedWorker> worker = worker_in(packet->text);
  return worker ? Result<GuardedWorker>(std::move(*worker)) : stranger;
}

Guard::Guard(const ServerAccess& access, const GuardedWorker& worker, Descriptor socket)
    : link_(access.link), pid_(worker.pid), socket_(std::move(socket)) {
  for (const std::string& tag : worker.tags) {
    shards_.emplace_back(access, tag, worker.nonce);
    is_heard_.push_back(true);
  }
}

void Guard::run() {
  allow_many_descriptors();
  if (listen() == Heard::death) see_to_jobs();
}

Guard::Heard Guard::listen() {
  int64_t look_ms = system_clock().boot_ms() + kRenewMs;
  for (;;) {
    wait(look_ms);
    const Heard heard = hear();
    if (heard == Heard::end || heard == Heard::death) return heard;
    if (system_clock().boot_ms() < look_ms) continue;
    if (is_stopped(pid_)) tell(all(), [](size_t) { return std::vector<std::string>{"stopped"}; });
    look_ms = system_clock().boot_ms() + kRenewMs;
  }
}

/// Until the worker says something, a job is over, or it is time.
void Guard::wait(int64_t until_ms) {
  std::vector<pollfd> polls = {{socket_.get(), POLLIN, 0}};
  for (const Job& job : jobs_) {
    polls.push_back(
        {job.pipe.get(), 0, 0});  // its end is told unasked, and what a job writes is nothing to us
    until_ms = std::min(until_ms, job.ends_at_ms);
  }
  const int64_t left_ms = std::max<int64_t>(0, until_ms - system_clock().boot_ms());
  ::poll(polls.data(), polls.size(), static_cast<int>(left_ms));
  const int64_t now_ms = system_clock().boot_ms();
  size_t at = 0;
  jobs_.remove_if([&](const Job& job) { return polls[++at].revents != 0 || job.ends_at_ms <= now_ms; });
}

Guard::Heard Guard::hear() {
  pollfd socket{socket_.get(), POLLIN, 0};
  if (::poll(&socket, 1, 0) <= 0) return Heard::nothing;
  Result<Packet> packet = receive_packet(socket_);
  if (!packet) return Heard::death;
  if (word_of(packet->text) == GuardWord::end) return Heard::end;
  std::optional<GuardedJob> job =
      word_of(packet->text) == GuardWord::job ? job_in(packet->text) : std::nullopt;
  if (!job || !packet->descriptor) return Heard::nothing;
  take_on(std::move(*job), std::move(packet->descriptor));
  return Heard::something;
}

/// What has all of the messages may be at work on any of them: the longest limit of these holds for each.
void Guard::take_on(GuardedJob what, Descriptor pipe) {
  const bool has_all = what.ids.empty();
  jobs_.push_back({std::move(what), std::move(pipe)});
  if (!has_all) return;
  std::optional<int64_t> longest_ms = 0;
  for (const Job& job : jobs_) {
    if (!job.what.ids.empty()) continue;
    longest_ms = longest_ms && job.what.limit_ms ? std::optional(std::max(*longest_ms, *job.what.limit_ms))
                                                 : std::nullopt;
  }
  for (Job& job : jobs_) {
    if (job.what.ids.empty()) job.what.limit_ms = longest_ms;
  }
}

std::vector<size_t> Guard::all() const {
  std::vector<size_t> shards(shards_.size());
  std::iota(shards.begin(), shards.end(), size_t{0});
  return shards;
}

/// And that it lives, whatever else. What fails is made up for by the next.
std::vector<size_t> Guard::tell(const std::vector<size_t>& shards, const MakeWords& words) {
  std::vector<size_t> more;
  Round round(*link_);
  for (const size_t shard : shards) {
    const auto hear = [&more, shard](const Reply& reply) {
      if (has_more_due(reply) || reply.at(1).at(0).number == 1) more.push_back(shard);
    };
    round.add(shards_[shard], words(shard), is_heard_[shard], hear);
  }
  round.tell();
  return more;
}

bool Guard::tell_at_last(std::vector<size_t> shards, const MakeWords& words) {
  const int64_t until_ms = system_clock().boot_ms() + kRenewMs - kUnheardMs;  // then all are due again
  while (!shards.empty() && system_clock().boot_ms() < until_ms) shards = tell(shards, words);
  return shards.empty();
}

std::vector<size_t> Guard::heard(std::vector<size_t> shards) const {
  std::erase_if(shards, [this](size_t shard) { return !is_heard_[shard]; });
  return shards;
}

void Guard::see_to_jobs() {
  socket_.close();
  const int64_t died_ms = system_clock().boot_ms();
  for (Job& job : jobs_) {
    const bool ends = job.what.limit_ms && *job.what.limit_ms < kNever - died_ms;
    job.ends_at_ms = ends ? died_ms + *job.what.limit_ms : kNever;
  }
  // Again while there are some: a server that has taken over may not have heard of it.
  for (;;) {
    const bool is_told = tell_death();
    if (jobs_.empty() && (is_told || system_clock().boot_ms() - died_ms >= kGiveUpMs)) return;
    wait(system_clock().boot_ms() + (is_told ? kRenewMs : kUnheardMs));
  }
}

bool Guard::tell_death() {
  bool is_done = tell_at_last(all(), [this](size_t shard) {
    return std::vector<std::string>{"died", kept_in(shard)};
  });
  if (is_done && jobs_.empty())
    is_done = tell_at_last(heard(all()), [](size_t) { return std::vector<std::string>{"leave"}; });
  return is_done && heard(all()).size() == shards_.size();
}

std::string Guard::kept_in(size_t shard) const {
  Packer kept;
  for (const Job& job : jobs_) {
    if (job.what.ids.empty()) return "*";
    for (const MessageId id : job.what.ids) {
      if (shard_of_id(id, shards_.size()) == shard) kept.number(static_cast<double>(number(id)));
    }
  }
  return kept.bytes();
}

}  // namespace fq
