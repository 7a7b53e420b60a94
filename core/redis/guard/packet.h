// packet - what a worker and its guard say to each other: some words, and a descriptor with them where one
// goes.
#pragma once

// System.
#include <string>
#include <string_view>
// fq, below us.
#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace fq {

struct Packet {
  std::string text;
  Descriptor descriptor;
};

/// An Error: the other end is gone.
Result<Packet> receive_packet(const Descriptor& socket);
/// `descriptor`: -1 for none. Does not wait: an end that takes nothing is an Error. The errno of one is in
/// it.
Result<void> send_packet(const Descriptor& socket, std::string_view text, int descriptor);

}  // namespace fq
