// ids - numbers that must not be mixed up, each a type of its own.
//
// A message id is a decimal number below 2^53 (so that every JSON reader keeps it exact), given
// once per queue and never again. A delivery serial counts the deliveries of a queue.
#pragma once

#include <cstdint>

namespace fq {

enum class MessageId : uint64_t {};
enum class Serial : uint64_t {};
enum class CallId : uint64_t {};

inline constexpr uint64_t kMessageIdMax = (uint64_t{1} << 53) - 1;

constexpr uint64_t number(MessageId id) { return static_cast<uint64_t>(id); }
constexpr uint64_t number(Serial serial) { return static_cast<uint64_t>(serial); }
constexpr uint64_t number(CallId call) { return static_cast<uint64_t>(call); }

}  // namespace fq
