// SPDX-License-Identifier: Apache-2.0
// Page tables of a paged K/V cache: position p of sequence b is in slot p % page_size of page page_table[b, p / page_size].
// Table entries past a sequence's length are ignored and may hold anything.
#pragma once

#include <cstdint>
#include <string>

#include "ops/core/contract.hpp"

namespace assay {

// The tensors are in host memory.
struct PageTable {
  const Tensor& entries;  // [batch, max_pages]
  const Tensor& lengths;  // [batch]
  std::int64_t pages, page_size;

  std::int64_t length(std::int64_t sequence) const { return static_cast<std::int64_t>(lengths.at(sequence)); }
  std::int64_t page(std::int64_t sequence, std::int64_t position) const {
    return static_cast<std::int64_t>(entries.at(sequence * entries.shape[1] + position / page_size));
  }
  // The row of the pool, seen as [pages * page_size, ...], that holds a position.
  std::int64_t row(std::int64_t sequence, std::int64_t position) const {
    return page(sequence, position) * page_size + position % page_size;
  }

  // Checks that every length fits its table and that every page in use exists.
  Legality legal() const {
    const std::int64_t room = entries.shape[1] * page_size;
    for (std::int64_t b = 0; b < entries.shape[0]; ++b) {
      if (length(b) < 0 || length(b) > room)
        return Legality::no("lengths[" + std::to_string(b) + "] is " + std::to_string(length(b)) + ", not one of 0 ... " +
                            std::to_string(room));
      for (std::int64_t p = 0; p < length(b); p += page_size)
        if (page(b, p) < 0 || page(b, p) >= pages)
          return Legality::no("page_table[" + std::to_string(b) + ", " + std::to_string(p / page_size) + "] is " +
                              std::to_string(page(b, p)) + ", not one of 0 ... " + std::to_string(pages - 1));
    }
    return Legality::yes();
  }
};

}  // namespace assay
