// door - push and lease+ack in one process, through the door, against the floor and the peer.
#include "tests/bench/bench.h"

// System.
#include <pthread.h>
#include <sys/mman.h>

#include <cstring>
// fq, below us.
#include "core/base/crc32c.h"

namespace fq::bench {

namespace {

constexpr int kRounds = 9;
constexpr size_t kBatch = 100;

/// Robust lock, copy of 128 bytes into a ring, CRC32C of them, unlock.
class Floor {
 public:
  Floor() {
    void* memory = ::mmap(nullptr, sizeof(Ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    ring_ = static_cast<Ring*>(memory);
    pthread_mutexattr_t attributes;
    ::pthread_mutexattr_init(&attributes);
    ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    ::pthread_mutex_init(&ring_->mutex, &attributes);
  }
  ~Floor() { ::munmap(ring_, sizeof(Ring)); }
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  double measure(size_t count) {
    std::byte record[128];
    std::memset(record, 'x', sizeof record);
    return ns_each(count, [&](size_t) {
      ::pthread_mutex_lock(&ring_->mutex);
      std::byte* to = ring_->bytes + ring_->tail % sizeof ring_->bytes;
      std::memcpy(to, record, sizeof record);
      ring_->tail += sizeof record;
      sum_ = crc32c(0, Bytes(to, sizeof record));
      ::pthread_mutex_unlock(&ring_->mutex);
    });
  }

 private:
  struct Ring {
    pthread_mutex_t mutex;
    uint64_t tail;
    std::byte bytes[512 * 1024];
  };
  Ring* ring_ = nullptr;
  volatile uint32_t sum_ = 0;
};

struct Wanted {
  double floors = 0;  // at most
  double peer = 0;    // times its rate, at least
};

void report(std::string_view name, double ns, double floor_ns, double peer_ns, Wanted wanted) {
  line(name, with_unit(ns, "ns"), ratio_of(ns / floor_ns, "floor"),
       verdict_of(ns / floor_ns, {Sense::at_most, wanted.floors}));
  if (peer_ns == 0) return;
  line("  SQLite, the same", with_unit(peer_ns, "ns"), ratio_of(peer_ns / ns, "slower than fq"),
       verdict_of(peer_ns / ns, {Sense::at_least, wanted.peer}));
}

}  // namespace

void bench_door(const Setup& setup) {
  section("In one process: 64-byte messages, 1000 tenants, lazy, payloads read (ns a message)");
  const size_t count = scaled(setup, 20'000);
  const size_t peer_count = scaled(setup, 2'000);
  const std::unique_ptr<Queue> queue = open(fresh_spool(setup, "door"), Sync::lazy);
  const std::unique_ptr<Peer> peer = open_peer(setup.place + "/peer.sqlite");
  Floor floor;
  fill(*queue, count, payload_of(64));  // so that no round begins or ends with an empty queue
  if (peer != nullptr) peer->push(count, kBatch);
  const auto of_peer = [&](bool takes, size_t batch) {
    if (peer == nullptr) return 0.0;
    return per_message(peer_count, [&] {
      if (takes) peer->take_and_ack(peer_count, batch);
      if (!takes) peer->push(peer_count, batch);
    });
  };
  const std::function<double()> subjects[] = {
      [&] { return floor.measure(20 * count); },
      [&] { return push_each(*queue, count, 1); },
      [&] { return per_message(count, [&] { take_and_ack(*queue, count, 1); }); },
      [&] { return push_each(*queue, count, kBatch); },
      [&] { return per_message(count, [&] { take_and_ack(*queue, count, kBatch); }); },
      [&] { return of_peer(false, 1); },
      [&] { return of_peer(true, 1); },
      [&] { return of_peer(false, kBatch); },
      [&] { return of_peer(true, kBatch); },
  };
  const std::vector<double> ns = interleave(kRounds, subjects);
  line("floor: robust lock, copy 128 bytes, CRC32C", with_unit(ns[0], "ns"));
  report("push", ns[1], ns[0], ns[5], {10, 40});
  report("lease + ack", ns[2], ns[0], ns[6], {28, 40});
  report("push, 100 at once", ns[3], ns[0], ns[7], {5, 5});
  report("lease + ack, 100 at once", ns[4], ns[0], ns[8], {13, 5});
}

}  // namespace fq::bench
