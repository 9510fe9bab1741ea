// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_backward.hpp"

#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

// Query heads stand as those of a group, `member`, beside the key/value head that they share.
static void write(const assay::attention_backward::Args& a, Formula& f) {
  const Axis heads("heads"), kv_heads("kv_heads"), member("member"), dim("head_dim"), queries("seq_q"), keys("seq_k");
  const std::int64_t group = f.extent(heads) / f.extent(kv_heads);
  const auto members = static_cast<double>(group);
  const Array head = f.index(kv_heads) * members + f.index(member, group);
  const auto grouped = [&](const char* name) { return take(f.in(name), heads, head); };
  const Array q = grouped("q"), d_o = grouped("do"), lse = grouped("lse"), k = f.in("k");

  const Attention pairs(f, false, static_cast<Attention::Mask>(a.mask), 0);
  const Array sees_any = 1 - (lse <= -std::numeric_limits<double>::infinity());  // also where it is NaN
  const Array seen = pairs.seen() ? *pairs.seen() && sees_any : sees_any;
  const Array p = step("p", exp(sum(dim)(q * k) * a.scale_used() - lse));
  const Array ds = step("ds", p * (sum(dim)(d_o * f.in("v")) - sum(dim)(d_o * grouped("o"))));
  const Array scaled = where(seen, step("scaled_ds", ds * a.scale_used()), 0);

  const Array kv = quotient(f.index(heads), members);
  f.out("dq", take(take(sum(keys)(scaled * k), kv_heads, kv), member, f.index(heads) - kv * members));
  f.out("dk", sum(queries, member)(scaled * q));
  f.out("dv", sum(queries, member)(where(seen, step("p_of_dv", p), 0) * d_o));
}

static const LinkedFormula<assay::attention_backward> formula_of_attention_backward("attention_backward", write);

}  // namespace assay::formula
