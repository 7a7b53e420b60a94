// sleepers - many clients that wait for a message, in a process of their own.
#pragma once

// System.
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
// fq, below us.
#include "core/api/queue.h"

namespace fq::bench {

class Sleepers {
 public:
  using Open = std::function<std::unique_ptr<Queue>()>;

  /// So many, each with a queue of its own that `open` opens there. `tenant_of(i)`: for what the i-th waits.
  Sleepers(size_t count, const Open& open, const std::function<std::string(size_t)>& tenant_of);
  /// Ends them as a power cut does: what the server keeps of them stays there.
  ~Sleepers();
  Sleepers(const Sleepers&) = delete;
  Sleepers& operator=(const Sleepers&) = delete;

 private:
  pid_t pid_ = -1;
};

}  // namespace fq::bench
