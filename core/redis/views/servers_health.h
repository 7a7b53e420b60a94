// servers_health - what queues rest on where they lie on servers, for fq doctor, and whether they can be
// used.
#pragma once

// System.
#include <optional>
#include <string>
#include <vector>
// fq, below us.
#include "core/api/doctor.h"
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

/// Of the queues `queue` alone, or with none named all. Changes nothing.
std::vector<DoctorRow> examine_servers(const ServerAccess& access, const std::optional<std::string>& queue);

}  // namespace fq
