// SPDX-License-Identifier: Apache-2.0
// Page tables of a paged K/V cache: position p of sequence b is in slot p % page_size of page page_table[b, p / page_size].
// Table entries past a sequence's length are ignored and may hold anything.
#pragma once

#include <cstdint>

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
};

}  // namespace assay
