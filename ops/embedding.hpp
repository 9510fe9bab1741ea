// SPDX-License-Identifier: Apache-2.0
// Embedding:  y[t,:] = table[ids[t],:]
//
// A bitwise copy of rows, NaN and inf included.  An id outside 0 ... vocab - 1 is illegal (undefined behaviour in a kernel), also
// if hidden is 0.  No tokens or no channels give an empty y.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct embedding {
  struct Args {
    Tensor table;  // [vocab, hidden]
    Tensor ids;    // [tokens], i32
    Tensor y;      // [tokens, hidden], written
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 0}, {Axis::vocab, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("table", a.table, {Axis::vocab, Axis::hidden});
    v.input("ids", a.ids, {Axis::tokens}, {.dtype = i32, .holds = indices_of(Axis::vocab)});
    v.output("y", a.y, {Axis::tokens, Axis::hidden});
  }

  // Reads the ids and one row of the table per token (repeated ids are not counted as cached), writes y.
  static Cost cost(const Args& a) {
    const double ids = static_cast<double>(a.ids.bytes()), matrix = static_cast<double>(a.y.bytes());
    return {.flops = 0, .bytes_read = ids + matrix, .bytes_written = matrix, .unfused_bytes = ids + 2 * matrix};
  }
};

}  // namespace assay
