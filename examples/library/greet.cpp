// greet - pushes a greeting of a tenant into the queue "greetings", and takes all that are there.
//
// usage: greet SPOOL TENANT TEXT. The spool's fq.toml holds for it as for any command.
#include <fq/api/queue.h>
#include <fq/policy/followed_queue.h>

#include <iostream>

int main(int count, char** words) {
  if (count != 4) return std::cerr << "usage: greet SPOOL TENANT TEXT\n", 64;
  const fq::Location greetings{words[1], "greetings"};
  auto queue = fq::FollowedQueue::open(greetings, {.create = true});  // what fq.toml says holds at each call
  if (!queue) return std::cerr << "greet: " << queue.error().text << "\n", 69;

  fq::NewMessage greeting;
  greeting.tenant = words[2];
  greeting.payload = fq::as_bytes(words[3]);
  const auto pushed = (*queue)->push({&greeting, 1});  // on disk when it returns
  if (!pushed || !is_accepted(pushed->items[0].status)) return std::cerr << "greet: not accepted\n", 75;

  for (;;) {
    const auto leased = (*queue)->lease({});  // ours until it is settled, or until we are dead
    if (!leased || leased->deliveries.empty()) return leased ? 0 : 74;
    const fq::Delivery& delivery = leased->deliveries[0];
    std::cout << delivery.tenant << ": " << delivery.payload.read_all().value() << "\n";
    fq::Settle done;  // its verdict is ack
    done.receipt = delivery.receipt;
    if (!(*queue)->settle({&done, 1})) return 74;
  }
}
