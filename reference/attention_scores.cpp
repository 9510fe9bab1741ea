// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_scores.hpp"

#include "reference/formula/attention.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::formula {

static void write(const assay::attention_scores::Args& a, Formula& f) {
  const Attention places(f, false, static_cast<Attention::Mask>(a.mask), 0);
  const Array scores = step("scores", sum(Axis("head_dim"))(f.in("q") * of_shared_heads(f, f.in("k"))) * a.scale_used());
  const Array weights = softmax_or_zero(places.keys())(places.masked(scores));
  f.out("p", places.seen() ? where(*places.seen(), weights, 0) : weights);
}

static const LinkedFormula<assay::attention_scores> formula_of_attention_scores("attention_scores", write);

}  // namespace assay::formula
