// SPDX-License-Identifier: Apache-2.0
// A callback that is told of each launch on a GPU, if it is set.
#pragma once

#include <cstddef>

namespace assay::on_gpu {

struct ObservedLaunch {
  const void* function = nullptr;  // as cudaLaunchKernel takes it
  std::size_t blocks = 0;          // of the grid
  int threads = 0;                 // of a block
  std::size_t dynamic_shared = 0;  // bytes of a block
};

struct LaunchObserver {
  void (*tell)(void* context, const ObservedLaunch& launch) = nullptr;
  void* context = nullptr;
};

// Note: there is one a process, read without a lock, so the thread that sets it must be the one that launches.
inline LaunchObserver launch_observer;

}  // namespace assay::on_gpu
