#include "tests/crash/scene.h"

// fq, below us.
#include "core/local/shared/journal_table.h"

namespace fq::test {

bool pushed(Queue& queue, const std::vector<Outgoing>& messages, Durability durability) {
  std::vector<NewMessage> batch;
  for (const Outgoing& each : messages) {
    NewMessage message{.tenant = each.tenant, .payload = as_bytes(each.payload)};
    if (each.delay_ms > 0) message.delay_ms = each.delay_ms;
    if (each.ttl_ms > 0) message.ttl_ms = each.ttl_ms;
    message.unique = each.unique;
    message.debounce = each.debounce;
    if (!each.debounce.empty()) message.quiet_ms = 3'600'000;
    batch.push_back(message);
  }
  const Result<PushReply> reply = queue.push(batch, {.durability = durability});
  return reply.ok() && is_accepted(reply->items.at(0).status);
}

bool settled(Queue& queue, const Settle& verdict) {
  const Result<SettleReply> reply = queue.settle({&verdict, 1});
  return reply.ok() && reply->items.at(0) == SettleStatus::ok;
}

std::unique_ptr<Queue> Scene::open() {
  OpenOptions options;
  options.create = true;
  options.clock = &clock;
  Result<std::unique_ptr<Queue>> opened = open_queue({spool.path(), "default"}, options);
  // In a child there is nobody to tell: no answer is answer enough.
  if (!opened.ok()) throw std::runtime_error(opened.error().text);
  return std::move(opened).value();
}

void Scene::push(Queue& queue, const std::vector<Outgoing>& messages, Durability durability) {
  REQUIRE(pushed(queue, messages, durability));
  for (const Outgoing& each : messages) must.insert(each.payload);
}

std::vector<Delivery> Scene::lease(Queue& queue, const LeaseRequest& request) {
  Result<LeaseReply> reply = queue.lease(request);
  REQUIRE(reply.ok());
  REQUIRE(reply->deliveries.size() == request.want);
  return std::move(reply->deliveries);
}

void Scene::settle(Queue& queue, const std::string& receipt, const Settle& verdict) {
  Settle one = verdict;
  one.receipt = Receipt(receipt);
  REQUIRE(settled(queue, one));
}

SegmentView::SegmentView(const Scene& scene) {
  const int file = ::open(scene.spool.queue("segment").c_str(), O_RDONLY | O_CLOEXEC);
  // A scene may begin without a segment: then zeros are seen.
  const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* at = ::mmap(nullptr, sizeof(SegmentHeader), PROT_READ, flags, file, 0);
  REQUIRE(at != MAP_FAILED);
  if (file >= 0) ::close(file);
  header_ = static_cast<const SegmentHeader*>(at);
}

SegmentView::~SegmentView() { ::munmap(const_cast<SegmentHeader*>(header_), sizeof(SegmentHeader)); }

uint64_t SegmentView::room_in_file() const {
  return JournalTable(const_cast<SegmentHeader&>(*header_)).current_room();
}

}  // namespace fq::test
