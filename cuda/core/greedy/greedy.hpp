// SPDX-License-Identifier: Apache-2.0
// From logits to the likeliest token, on the device: so that one pass of a decoder can follow another without the host.
#pragma once

#include <cstdint>

#include "ops/core/kernel.hpp"

namespace assay {

// For each row of the logits: next = the first of its largest values (a NaN only if it is the first value of the row).  Where the
// row's length is not 0, its position and length grow by one, and history[row, its new position] = next.
struct NextTokens {
  Tensor logits;                                          // [rows, vocab]
  std::int32_t* next = nullptr;                           // [rows]
  std::int32_t *positions = nullptr, *lengths = nullptr;  // [rows]; null: none grow
  std::int32_t* history = nullptr;                        // [rows, most positions]; null: nothing is written
  std::int64_t most_positions = 0;
};

// Launchers; args is a NextTokens.
namespace on_gpu {
void next_tokens(const void* args, const Launch& l);
}
namespace on_simt {
void next_tokens(const void* args, const Launch& l);
}

}  // namespace assay
