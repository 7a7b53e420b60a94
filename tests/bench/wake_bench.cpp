// wake - from a push in one process to the return of a waiting lease in another, against a ring with mutex
// and condition in shared memory.
#include "tests/bench/bench.h"

// System.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace fq::bench {

namespace {

constexpr int kRounds = 300;
constexpr useconds_t kPauseUs = 700;  // so that the other is asleep again

struct Ring {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
  uint64_t pushed;
  uint64_t taken;
  char records[256][128];
};

struct Board {
  Ring ring;
  std::atomic<int64_t> woken_ns;  // 0: not yet
  std::atomic<int> turn;          // 0 nobody, 1 the ring, 2 fq, 3 the end
};

Board* make_board() {
  void* memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* board = static_cast<Board*>(memory);
  pthread_mutexattr_t mutex;
  ::pthread_mutexattr_init(&mutex);
  ::pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  ::pthread_mutex_init(&board->ring.mutex, &mutex);
  pthread_condattr_t condition;
  ::pthread_condattr_init(&condition);
  ::pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  ::pthread_cond_init(&board->ring.filled, &condition);
  return board;
}

void take_from_ring(Board& board) {
  Ring& ring = board.ring;
  ::pthread_mutex_lock(&ring.mutex);
  while (ring.taken == ring.pushed) ::pthread_cond_wait(&ring.filled, &ring.mutex);
  ++ring.taken;
  ::pthread_mutex_unlock(&ring.mutex);
  board.woken_ns.store(now_ns());
}

void push_to_ring(Board& board) {
  Ring& ring = board.ring;
  ::pthread_mutex_lock(&ring.mutex);
  std::fill_n(ring.records[ring.pushed++ % 256], 128, 'x');
  ::pthread_cond_signal(&ring.filled);
  ::pthread_mutex_unlock(&ring.mutex);
}

void consume(Board& board, const std::string& spool) {
  const std::unique_ptr<Queue> queue = must(open_queue({spool, "default"}));
  LeaseRequest request;
  request.wait = true;
  for (;;) {
    int turn = 0;
    // Between rounds, outside what is timed.
    while ((turn = board.turn.load()) == 0) ::usleep(50);  // a spin would keep the other from its core
    if (turn == 3) return;
    if (turn == 1) {
      take_from_ring(board);
    } else {
      LeaseReply reply = must(queue->lease(request));
      board.woken_ns.store(now_ns());
      Settle verdict;
      verdict.receipt = reply.deliveries.at(0).receipt;
      must(queue->settle({&verdict, 1}));
    }
    board.turn.store(0);
  }
}

/// Microseconds from before the push to after the wake.
double turn(Board& board, int whose, const std::function<void()>& push) {
  while (board.turn.load() != 0) ::usleep(50);  // as in consume: between rounds
  board.woken_ns.store(0);
  board.turn.store(whose);
  ::usleep(kPauseUs);  // the consumer is to be asleep: a round that comes too early would time no wake-up
  const int64_t from = now_ns();
  push();
  int64_t woken = 0;
  while ((woken = board.woken_ns.load()) == 0) ::usleep(20);  // a spin would keep the other from its core
  return static_cast<double>(woken - from) / 1000.0;
}

}  // namespace

void bench_wake(const Setup& setup) {
  section("Wake-up: a push in one process to a waiting lease in another (us, medians)");
  const std::string spool = fresh_spool(setup, "wake");
  open(spool, Sync::lazy);
  Board& board = *make_board();
  const pid_t child = ::fork();
  if (child == 0) {
    consume(board, spool);
    std::_Exit(0);
  }
  {
    const std::unique_ptr<Queue> queue = must(open_queue({spool, "default"}));
    const std::string payload = payload_of(64);
    const std::function<double()> subjects[] = {
        [&] { return turn(board, 1, [&] { push_to_ring(board); }); },
        [&] { return turn(board, 2, [&] { must(queue->push(messages(0, 1, payload))); }); },
    };
    const std::vector<double> us = interleave(static_cast<int>(scaled(setup, kRounds)), subjects);
    line("floor: ring with mutex and condition", with_unit(us[0], "us"));
    line("fq, lazy push", with_unit(us[1], "us"), ratio_of(us[1] / us[0], "the ring"),
         verdict_of(us[1] / us[0], {Sense::at_most, 2.0}));
  }
  while (board.turn.load() != 0) ::usleep(50);  // as in consume: between rounds
  board.turn.store(3);
  ::waitpid(child, nullptr, 0);
}

}  // namespace fq::bench
