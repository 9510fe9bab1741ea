// SPDX-License-Identifier: Apache-2.0
#include "ops/rope.hpp"

#include "reference/formula/linked_formula.hpp"
#include "reference/formula/rotation.hpp"

namespace assay::formula {

static void write(const assay::rope::Args& a, Formula& f) {
  const Array q = f.in("q"), k = f.in("k");
  const auto turning = static_cast<double>(a.rotary());
  if (turning == 0) {
    f.out("q_out", q);
    f.out("k_out", k);
    return;
  }
  const ChannelPairs pairs(f, Axis("head_dim"), turning, a.layout == assay::rope::Layout::half);
  const Array position = (a.explicit_positions ? f.in("positions") : f.index(Axis("seq_q"))) + a.offset;
  const Turn turn =
      a.given_frequencies ? pairs.by_frequencies(position, f.in("frequencies")) : pairs.by_base(position, a.base_used());
  f.out("q_out", pairs.rotated(q, turn));
  f.out("k_out", pairs.rotated(k, turn));
}

static const LinkedFormula<assay::rope> formula_of_rope("rope", write);

}  // namespace assay::formula
