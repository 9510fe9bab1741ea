// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace assay {

// Bytes of memory that this process may still use: what the machine has free, or less if a control group that it is in allows
// less (cgroup 1 or 2, at any level).  A file cache that the system would give up counts as free.  `root`: before /proc and the
// folders of control groups.
std::size_t available_memory(const std::string& root = "");

// Has freed blocks of 4 MiB and more go back to the system at once, for the whole process.  Note: glibc else raises its limit, up
// to 32 MiB, with every such block that is freed, and keeps what is smaller: the rows of a golden in each thread.
void return_freed_memory();

std::string size_text(double bytes);  // "1.5 GiB"

// Makes this process, and each that it will start, fail to allocate before the machine runs out of memory.  If it runs out all
// the same, the system kills them and not the judge.  Note: the limit is one of private writable memory; neither memory that is
// shared nor address space that is only reserved counts.
void limit_memory();

}  // namespace assay
