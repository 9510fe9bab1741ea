// SPDX-License-Identifier: Apache-2.0
#include "validate/base/descriptors.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace assay {

namespace {

// A message of one text, with room for descriptors.
struct Message {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  iovec part;
  msghdr head{};

  Message(void* text, std::size_t bytes, std::size_t descriptors) : part{text, bytes} {
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    if (descriptors == 0) return;
    head.msg_control = control;
    head.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
  }
};

}  // namespace

ssize_t send_with(int socket, std::string_view text, std::span<const int> descriptors) {
  Message message(const_cast<char*>(text.data()), text.size(), descriptors.size());
  if (cmsghdr* const rights = CMSG_FIRSTHDR(&message.head)) {
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent;
  do sent = ::sendmsg(socket, &message.head, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t receive_with(int socket, std::span<char> text, std::span<int> descriptors, int flags) {
  Message message(text.data(), text.size(), descriptors.size());
  std::fill(descriptors.begin(), descriptors.end(), -1);
  ssize_t received;
  do received = ::recvmsg(socket, &message.head, MSG_CMSG_CLOEXEC | flags);
  while (received < 0 && errno == EINTR);
  if (received <= 0) return received;
  const cmsghdr* const rights = CMSG_FIRSTHDR(&message.head);
  if (rights && rights->cmsg_len == CMSG_LEN(descriptors.size_bytes()))
    std::memcpy(descriptors.data(), CMSG_DATA(rights), descriptors.size_bytes());
  return received;
}

}  // namespace assay
