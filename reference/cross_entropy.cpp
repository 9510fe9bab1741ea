// SPDX-License-Identifier: Apache-2.0
// Golden cross entropy: the formula in f64.
#include "ops/cross_entropy.hpp"

#include <Eigen/Core>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

// Note: loss [tokens] is a single row, so all tokens are always computed.
void golden(const cross_entropy::Args& a, cross_entropy::Golden& g, const Rows&) {
  const std::int64_t tokens = a.x.shape[0], vocab = a.x.shape[1];

#pragma omp parallel for schedule(static)
  for (std::int64_t t = 0; t < tokens; ++t) {
    const Eigen::ArrayXd x = load(a.x, t * vocab, vocab);
    const double max = x.maxCoeff<Eigen::PropagateNaN>();
    const Eigen::ArrayXd d = x - max;
    // Note: std::exp, since Eigen's returns 5e-309 where exp underflows to 0.
    const Eigen::ArrayXd e = d.unaryExpr([](double v) { return std::exp(v); });
    const double sum = e.sum();
    g.log_sum[t] = std::log(sum);
    g.loss[t] = g.log_sum[t] - d[static_cast<std::int64_t>(a.target.at(t))];
    // Note: select avoids 0 * inf where x is -inf.
    g.spread[t] = (e > 0).select(-e * d, 0.0).sum() / sum;
  }

  double sum = 0;
  for (std::int64_t t = 0; t < tokens; ++t) sum += g.loss[t];
  g.mean[0] = sum / static_cast<double>(tokens);
}

// Each thread has x, d and e of a token.
double scratch(const cross_entropy::Args& a, const Rows&) {
  return bytes_of(static_cast<double>(threads_on(a.x.shape[0])) * 3 * static_cast<double>(a.x.shape[1]));
}

static const LinkedGolden<cross_entropy> linked_cross_entropy(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::cross_entropy::Args&, Formula& f) {
  const Axis vocab("vocab");
  const Array loss = -take(log_softmax(vocab)(f.in("x")), vocab, f.in("target"));
  f.out("loss", loss);
  f.out("mean", mean(Axis("tokens"))(loss));
}

static const LinkedFormula<assay::cross_entropy> formula_of_cross_entropy("cross_entropy", write);

}  // namespace assay::formula
