#include "core/engine/no_such_queue.h"

// System.
#include <cerrno>
#include <string>

namespace fq {

Error no_such_queue(std::string_view queue) {
  return Error{ErrorKind::missing,
               "queue '" + std::string(queue) + "': there is none; a push or fq queue create makes it",
               ENOENT};
}

}  // namespace fq
