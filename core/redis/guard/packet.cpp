#include "core/redis/guard/packet.h"

// System.
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace fq {

namespace {

constexpr size_t kPacketBytesMax = 256 * 1024;  // more than a socket lets through at once

}  // namespace

Result<Packet> receive_packet(const Descriptor& socket) {
  Packet packet;
  packet.text.resize(kPacketBytesMax);
  iovec bytes{packet.text.data(), packet.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  const ssize_t got = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (got <= 0) return sys_error("receive", "the worker", got < 0 ? errno : ECONNRESET);
  packet.text.resize(static_cast<size_t>(got));
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    int number = -1;
    std::memcpy(&number, CMSG_DATA(head), sizeof number);
    packet.descriptor = Descriptor(number);
  }
  return packet;
}

Result<void> send_packet(const Descriptor& socket, std::string_view text, int descriptor) {
  iovec bytes{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room{};
  if (descriptor >= 0) {
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    cmsghdr* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  }
  if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
    return sys_error("send", "the worker's guard", errno);
  return {};
}

}  // namespace fq
