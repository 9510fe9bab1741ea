// SPDX-License-Identifier: Apache-2.0
// Golden RoPE: angles, cosines and sines in long double, each pair rotated in f64.
#include "ops/rope.hpp"

#include <vector>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"
#include "reference/formula/rotation.hpp"

namespace assay::reference {

namespace {

// Note: at position 2^24 an f64 angle errs by 2^-29, a 32nd of an f32 rounding; an 80-bit long double makes that negligible.
using Wide = long double;

// Rotates one row of q or k, which belongs to `token`.
void rotate(const rope::Args& a, const rope::Golden& g, const Tensor& x, std::int64_t token, std::int64_t row, Array y) {
  const std::int64_t dim = x.shape[3], rotary = a.rotary();
  const Eigen::ArrayXd v = load(x, row * dim, dim);
  for (std::int64_t d = 0; d < dim; ++d) {
    const std::int64_t at = token * dim + d;
    if (d >= rotary) y[row * dim + d] = v[d];
    else if (a.first_of_pair(d)) y[row * dim + d] = v[d] * g.cosine[at] - v[a.partner(d)] * g.sine[at];
    else y[row * dim + d] = v[a.partner(d)] * g.sine[at] + v[d] * g.cosine[at];
  }
}

}  // namespace

void golden(const rope::Args& a, rope::Golden& g, const Rows& rows) {
  const std::int64_t heads = a.q.shape[2], kv_heads = a.k.shape[2], group = heads / kv_heads, dim = a.q.shape[3];
  const std::int64_t rotary = a.rotary(), tokens = a.q.shape[0] * a.q.shape[1];
  std::vector<Wide> frequency(static_cast<std::size_t>(rotary / 2));
  for (std::size_t i = 0; i < frequency.size(); ++i)
    frequency[i] = a.given_frequencies
                       ? static_cast<Wide>(a.frequencies.at(static_cast<std::int64_t>(i)))
                       : std::pow(static_cast<Wide>(a.base_used()), -2 * static_cast<Wide>(i) / static_cast<Wide>(rotary));

#pragma omp parallel for schedule(static)
  for (std::int64_t token = 0; token < tokens; ++token) {
    const Wide position = static_cast<Wide>(a.position(token));
    bool known = false;
    for (std::int64_t head = 0; head < heads; ++head) {
      if (!rows.has(token * heads + head)) continue;
      for (std::int64_t d = 0; d < rotary && !known; ++d) {
        const Wide angle = position * frequency[static_cast<std::size_t>(a.pair(d))];
        g.angle[token * dim + d] = static_cast<double>(angle);
        g.cosine[token * dim + d] = static_cast<double>(std::cos(angle));
        g.sine[token * dim + d] = static_cast<double>(std::sin(angle));
      }
      known = true;
      rotate(a, g, a.q, token, token * heads + head, g.q_out);
      if (head % group == 0) rotate(a, g, a.k, token, token * kv_heads + head / group, g.k_out);
    }
  }
}

// Each thread has a row of q or k.
double scratch(const rope::Args& a, const Rows& rows) { return scratch_of_rows(rows, static_cast<double>(a.q.shape[3])); }

static const LinkedGolden<rope> linked_rope(golden, scratch);

}  // namespace assay::reference

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
