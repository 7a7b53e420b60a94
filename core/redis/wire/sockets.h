// sockets - that are connected within a time. Where there is none errno says why.
#pragma once

// System.
#include <netdb.h>

#include <cstdint>
#include <string>
// fq, below us.
#include "core/base/descriptor.h"

namespace fq {

/// Whether it is ready within the time; else errno is set.
bool is_ready(int socket, short events, int64_t deadline_ms);
/// To the first of these that takes it. One that does not answer leaves the others their part of the time.
Descriptor connect_to_one_of(const addrinfo* addresses, int64_t deadline_ms);
Descriptor connect_to_path(const std::string& path, int64_t deadline_ms);

}  // namespace fq
