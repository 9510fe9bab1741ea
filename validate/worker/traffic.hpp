// SPDX-License-Identifier: Apache-2.0
// Bytes that a kernel moved, as a backend counts them.
#pragma once

#include <cstdint>
#include <string>

namespace assay {

// Traffic of one buffer; all zero if the backend cannot count.
struct Traffic {
  std::uint64_t read_bytes = 0, written_bytes = 0;                // each byte at every access
  std::uint64_t unique_read_bytes = 0, unique_written_bytes = 0;  // each byte once
  std::uint64_t read_sectors = 0, written_sectors = 0;            // 32-byte sectors of each warp-wide request
};

// Traffic of one source line with one buffer or with shared memory.
struct SiteTraffic {
  std::string place;   // "cuda/OP/KERNEL.cu:12"
  std::string buffer;  // its label, or "shared memory"
  bool write = false;
  std::uint64_t bytes = 0, requests = 0;  // a request is one access by a warp
  std::uint64_t sectors = 0;              // global memory only
  std::uint64_t wavefronts = 0;           // shared memory only; without bank conflicts, 1 per 128 bytes of a request
};

// Bytes between device memory (DRAM) and the L2 cache.
struct DramBytes {
  double read = 0, written = 0;
  double sum() const { return read + written; }
};

}  // namespace assay
