#include "core/api/queue.h"

// System.
#include <unistd.h>

#include <cerrno>

namespace fq {

Payload::~Payload() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::string> Payload::read_all() const {
  if (descriptor_ < 0) return bytes_;
  std::string whole(size_, '\0');
  size_t done = 0;
  while (done < whole.size()) {
    const ssize_t got =
        ::pread(descriptor_, whole.data() + done, whole.size() - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return sys_error("read", "payload", errno);
    if (got == 0) return Error{ErrorKind::bad_data, "payload: its file is shorter than its record says", 0};
    done += static_cast<size_t>(got);
  }
  return whole;
}

}  // namespace fq
