// signature - what is signed of a message that has a command, and how the signature lies beside the command.
#pragma once

// System.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
// fq, below us.
#include "core/api/message.h"
// fq, this room.
#include "core/redis/signing/command_key.h"

namespace fq {

inline constexpr size_t kSignatureSaltBytes = 16;

struct Signature {
  /// One of a schedule is signed once and goes with each message that the schedule makes.
  enum class Of : uint8_t { push = 1, schedule = 2 };
  Of of = Of::push;
  std::string key_name;    // kKeyNameBytes
  int64_t at_wall_ms = 0;  // from when its age counts
  std::string salt;        // kSignatureSaltBytes, drawn
  std::string mac;         // kMacBytes
};

std::string signature_bytes(const Signature& signature);
/// None: it is not one that this fq wrote.
std::optional<Signature> read_signature(std::string_view bytes);

/// The text under the signature's `mac`, of which no other message has the same: before each part stands how
/// long it is. Needs: a message with a command.
std::string signed_text(std::string_view queue, const NewMessage& message, const Signature& signature);

}  // namespace fq
