#include "core/redis/shard/shard_places.h"

// System.
#include <algorithm>
#include <random>
// fq, this room.
#include "core/redis/records/base32.h"
#include "core/redis/wire/slots.h"

namespace fq {

namespace {

constexpr size_t kSaltLength = 4;        // 2^20 salts for 2^14 slots, which anybody finds in the same order
constexpr size_t kRandomSaltLength = 7;  // so that no place is drawn twice

std::string front_of(const std::string& queue, uint64_t shard) {
  return queue + ":" + std::to_string(shard) + ":";
}

std::string place_in_slot(const std::string& front, uint64_t slot, uint64_t first_salt = 0,
                          size_t length = kSaltLength) {
  const uint32_t sum = slot_sum(0, front);
  for (uint64_t number = first_salt;; ++number) {
    const std::string salt = base32_of(number, length);
    if (slot_sum(sum, salt) % kSlots == slot) return front + salt;
  }
}

std::string random_place_in_slot(const std::string& front, uint64_t slot) {
  return place_in_slot(front, slot, std::random_device{}(), kRandomSaltLength);
}

}  // namespace

std::string other_shard_place(const std::string& place) {
  return random_place_in_slot(place.substr(0, place.rfind(':') + 1), slot_of(place));
}

/// Anybody finds the same.
std::array<std::string, 2> copy_places(const std::string& queue) {
  const uint64_t home = slot_of(queue);
  return {place_in_slot(queue + ":c1:", (home + kSlots / 3) % kSlots),
          place_in_slot(queue + ":c2:", (home + 2 * kSlots / 3) % kSlots)};
}

std::vector<std::string> spread_shard_places(const std::string& queue, uint64_t shards, bool is_cluster) {
  if (shards == 1 && is_cluster) return {place_in_slot(front_of(queue, 0), slot_of(queue))};
  if (shards == 1) return {front_of(queue, 0) + "0"};
  std::vector<std::string> places;
  for (uint64_t shard = 0; shard < shards; ++shard)
    places.push_back(random_place_in_slot(front_of(queue, shard), shard * kSlots / shards));
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
