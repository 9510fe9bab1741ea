// SPDX-License-Identifier: Apache-2.0
// Embedding:  y[t,:] = table[ids[t],:]
//
// A copy: every element of y is an element of the table, NaN and inf included.  An id below 0 or not below vocab is illegal,
// and what a kernel does with one is not defined.  No tokens or no channels give an empty y; ids are checked all the same.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct embedding {
  struct Args {
    Tensor table;  // [vocab, hidden]
    Tensor ids;    // [tokens], i32
    Tensor y;      // [tokens, hidden], written
  };
  struct Golden {
    Array y;  // [tokens, hidden]
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 0}, {Axis::hidden, 0}, {Axis::vocab, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("table", a.table, {Axis::vocab, Axis::hidden});
    v.input("ids", a.ids, {Axis::tokens}, {.dtype = i32, .index_of = Axis::vocab});
    v.output("y", a.y, {Axis::tokens, Axis::hidden});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("y", g.y, {Axis::tokens, Axis::hidden});
  }

  // Reads the ids: of tensors in host memory.
  static Legality legal(const Args& a) { return places_legal("ids", a.ids, a.table.shape[0]); }

  // A copy rounds nothing.
  static double bound(const Args&, const Golden&, const Numerics&, Errors, int /*output*/, std::int64_t) { return 0; }

  // The ids read, and a row of the table for each token, as if no two were one; y written.
  static Cost cost(const Args& a) {
    const double ids = static_cast<double>(a.ids.bytes()), matrix = static_cast<double>(a.y.bytes());
    return {.flops = 0, .bytes_read = ids + matrix, .bytes_written = matrix, .unfused_bytes = ids + 2 * matrix};
  }
};

}  // namespace assay
