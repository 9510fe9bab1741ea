// SPDX-License-Identifier: Apache-2.0
// What a kernel moved, as a machine counts it.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

// Traffic of one buffer, counted; all zero where the backend cannot count.
struct Traffic {
  std::uint64_t read_bytes = 0, written_bytes = 0;                // as requested
  std::uint64_t unique_read_bytes = 0, unique_written_bytes = 0;  // each byte once
  std::uint64_t read_sectors = 0, written_sectors = 0;            // 32-byte sectors of each warp-wide request
};

// What one line of a kernel moved of one buffer, or of shared memory.
struct SiteTraffic {
  std::string place;   // "cuda/OP/KERNEL.cu:12"
  std::string buffer;  // its label; "shared memory"
  bool write = false;
  std::uint64_t bytes = 0, requests = 0;  // a request: of a whole warp
  std::uint64_t sectors = 0;              // of global memory
  std::uint64_t wavefronts = 0;           // of shared memory: 1 for each 128 bytes of a request where no two lanes want one bank
};

// Bytes between device memory and the last cache before it.
struct DramBytes {
  double read = 0, written = 0;
  double sum() const { return read + written; }
};

}  // namespace assay
