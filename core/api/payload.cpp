#include "core/api/payload.h"

// System.
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace fq {

Payload::Payload(std::string_view bytes) { PayloadMemory(bytes.size()).add(bytes, *this); }

void Payload::close() { ::close(descriptor_); }

Result<std::string> Payload::read_all() const {
  if (descriptor_ < 0) return std::string(bytes_);
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

PayloadMemory::PayloadMemory(size_t bytes) : size_(bytes) {
  if (bytes != 0) memory_ = std::make_shared_for_overwrite<char[]>(bytes);
}

void PayloadMemory::add(std::string_view bytes, Payload& into) {
  if (bytes.size() > size_ - used_) return PayloadMemory(bytes.size()).add(bytes, into);
  if (bytes.empty()) return;
  char* const to = memory_.get() + used_;
  used_ += bytes.size();
  std::memcpy(to, bytes.data(), bytes.size());
  into.memory_ = memory_;
  into.bytes_ = {to, bytes.size()};
  into.size_ = bytes.size();
}

}  // namespace fq
