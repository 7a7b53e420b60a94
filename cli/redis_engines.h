// redis_engines - of fq-redis: the engine of queues on servers.
#pragma once

namespace fq {

class RedisEngine;
const RedisEngine& redis_engine();
/// The password is known to this process only: jobs that it starts have none.
bool has_password_of_its_own();

}  // namespace fq
