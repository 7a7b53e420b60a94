#include "core/redis/shard/shard_places.h"

// System.
#include <algorithm>
#include <random>
// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/wire/slots.h"

namespace fq {

namespace {

constexpr size_t kSaltLength = 4;  // 2^20 salts for 2^14 slots

std::string front_of(const std::string& queue, uint64_t shard) {
  return queue + ":" + std::to_string(shard) + ":";
}

std::string place_in_slot(const std::string& front, uint64_t slot, uint64_t first_salt) {
  const uint32_t sum = slot_sum(0, front);
  for (uint64_t number = first_salt;; ++number) {
    const std::string salt = base32_of(number, kSaltLength);
    if (slot_sum(sum, salt) % kSlots == slot) return front + salt;
  }
}

}  // namespace

std::string other_shard_place(const std::string& place) {
  return place_in_slot(place.substr(0, place.rfind(':') + 1), slot_of(place), std::random_device{}());
}

/// Anybody finds the same.
std::array<std::string, 2> copy_places(const std::string& queue) {
  const uint64_t home = slot_of(queue);
  return {place_in_slot(queue + ":c1:", (home + kSlots / 3) % kSlots, 0),
          place_in_slot(queue + ":c2:", (home + 2 * kSlots / 3) % kSlots, 0)};
}

std::vector<std::string> spread_shard_places(const std::string& queue, uint64_t shards, bool is_cluster) {
  if (shards == 1 && is_cluster) return {place_in_slot(front_of(queue, 0), slot_of(queue), 0)};
  if (shards == 1) return {front_of(queue, 0) + "0"};
  std::vector<std::string> places;
  for (uint64_t shard = 0; shard < shards; ++shard)
    places.push_back(place_in_slot(front_of(queue, shard), shard * kSlots / shards, std::random_device{}()));
  return places;
}

std::string joined_places(const std::vector<std::string>& places) {
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "" : " ") + place;
  return text;
}

std::vector<std::string> places_in(const std::string& joined) {
  std::vector<std::string> places;
  for (size_t at = 0; at < joined.size();) {
    const size_t end = std::min(joined.find(' ', at), joined.size());
    places.push_back(joined.substr(at, end - at));
    at = end + 1;
  }
  return places;
}

}  // namespace fq
