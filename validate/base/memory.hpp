// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace assay {

// Bytes of memory that this process may still use: what the machine has free, or less if a control group that it is in allows
// less (cgroup 1 or 2, at any level).  A file cache that the system would give up counts as free.  `root`: before /proc and the
// folders of control groups.
std::size_t available_memory(const std::string& root = "");

std::string size_text(double bytes);  // "1.5 GiB"

}  // namespace assay
