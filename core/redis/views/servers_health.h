// servers_health - what queues rest on where they lie on servers, for fq doctor.
#pragma once

// System.
#include <vector>
// fq, below us.
#include "core/api/doctor.h"
// fq, this room.
#include "core/redis/shard/shard.h"

namespace fq {

std::vector<DoctorRow> examine_servers(const ServerAccess& access);

}  // namespace fq
