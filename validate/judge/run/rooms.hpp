// SPDX-License-Identifier: Apache-2.0
// How much of the machine a run may take at a time.
#pragma once

#include <cstddef>

#include "validate/tasks/room.hpp"

namespace assay {

// Open files that a run needs.
inline constexpr int kFilesOfWorker = 4;                // its socket, two for what it prints, one for what it asks
inline constexpr int kFilesOfOne = kFilesOfWorker + 2;  // and two memories that are sent to it
inline constexpr int kOtherFiles = 8;                   // the pool's, those that start a worker, reports at the end
inline constexpr int kLeastFiles = kFilesOfOne + 1;     // those of one case and one kernel

struct Rooms {
  // `free_bytes` and `free_files`: what this process may still use.
  Rooms(std::size_t free_bytes, std::size_t free_files, int workers)
      : available(free_bytes),
        memory(static_cast<double>(free_bytes)),
        files(static_cast<double>(free_files) - kOtherFiles),
        places(4.0 * workers) {}
  const std::size_t available;  // bytes
  Room memory, files;
  Room places;  // for cases that are prepared or being so
};

}  // namespace assay
