// SPDX-License-Identifier: Apache-2.0
// Messages over a socket of this machine that hand over descriptors (unix(7), SCM_RIGHTS).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string_view>

namespace assay {

inline constexpr std::size_t kMostDescriptors = 2;  // of a message

// Sends a text and copies of descriptors.  Returns -1, and sets errno, if that fails.
ssize_t send_with(int socket, std::string_view text, std::span<const int> descriptors);
// Receives a message and its descriptors, which are -1 unless as many came as were expected.  Returns its bytes; 0: the other end
// is closed; -1, and sets errno: that failed.  `flags`: of recvmsg(2).
ssize_t receive_with(int socket, std::span<char> text, std::span<int> descriptors, int flags = 0);

}  // namespace assay
