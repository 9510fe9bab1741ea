// SPDX-License-Identifier: Apache-2.0
// Rules of numerics that declare another way to compute a LayerNorm: moments updated value by value, and an affine that is folded
// into the norm.  Both are derived in norm_bound.hpp.  A formula's nodes say what is computed, so these are found by what they
// are made of: m = sum(x)/n, x - m, sum((x - m)^2)/n, (x - m) r gamma + beta.
#include <algorithm>
#include <cmath>

#include "ops/core/norm_bound.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {
namespace {

// Nodes of a row that its mean is subtracted from; -1: none.
struct Centred {
  int of = -1;    // x
  int mean = -1;  // m
};

class Pattern {
 public:
  explicit Pattern(const Graph& graph) : graph_(graph) {}

  // The sum that a node divides by its number of terms; -1: it is no mean.
  int summed(int i) const {
    const Node& n = node(i);
    if (n.kind != Kind::divide || node(n.arguments[0]).kind != Kind::sum || node(n.arguments[1]).kind != Kind::constant)
      return -1;
    return node(n.arguments[1]).number == static_cast<double>(graph_.size(node(n.arguments[0]).over)) ? n.arguments[0] : -1;
  }
  Centred centred(int i) const {
    const Node& n = node(i);
    if (n.kind != Kind::subtract) return {};
    const int sum = summed(n.arguments[1]);
    return sum >= 0 && node(sum).arguments[0] == n.arguments[0] ? Centred{n.arguments[0], n.arguments[1]} : Centred{};
  }
  // Whether a row's mean is subtracted from it.
  bool centres(int mean) const {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (centred(static_cast<int>(i)).mean == mean) return true;
    return false;
  }
  // The row whose variance a node is.
  Centred varied(int i) const {
    const int sum = summed(i);
    if (sum < 0) return {};
    const Node& squares = node(node(sum).arguments[0]);
    const bool is_square =
        squares.kind == Kind::square || (squares.kind == Kind::multiply && squares.arguments[0] == squares.arguments[1]);
    return is_square ? centred(squares.arguments[0]) : Centred{};
  }
  const Node& node(int i) const { return graph_.nodes[static_cast<std::size_t>(i)]; }

 private:
  const Graph& graph_;
};

}  // namespace

std::optional<Off> Tracked::running_moment(int i) const {
  const Pattern pattern(values_.graph());
  const int sum = pattern.summed(i);
  if (sum < 0) return {};
  const Centred row = pattern.varied(i);
  const bool is_mean = pattern.centres(i);
  if (!is_mean && row.of < 0) return {};
  const int of_mean = is_mean ? sum : node(row.mean).arguments[0];
  const std::int64_t count = extents().size(node(sum).over);
  const auto terms = static_cast<double>(count);
  const double u = u_, low = floor_, share = (mean_roundings(declared_.numerics, declared_.errors, count) + 3) * u;
  const auto error = [=](double size, double value) {
    const double mean_abs = size / terms;
    if (is_mean) return (terms + 6 + 3 * std::log(terms)) * u * mean_abs + terms * low;
    const double worst = 6 * u * terms * mean_abs + low;
    return 2.42 * worst * std::sqrt(value) + worst * worst + share * (value + worst * worst) + 2 * low;
  };
  return Off{.any = map(extents(), error, values_[of_mean].terms.size, values_[i].value), .fresh = {}};
}

Field Tracked::folding(int i) const {
  const Pattern pattern(values_.graph());
  const Node& sum = node(i);
  if (sum.kind != Kind::add) return {};
  for (std::size_t k = 0; k < 2; ++k) {
    const Node& scaled = node(sum.arguments[k]);
    if (scaled.kind != Kind::multiply) continue;
    for (std::size_t g = 0; g < 2; ++g) {
      int normed = scaled.arguments[1 - g];
      while (node(normed).kind == Kind::step) normed = node(normed).arguments[0];
      if (node(normed).kind != Kind::multiply) continue;
      for (std::size_t r = 0; r < 2; ++r) {
        const Centred row = pattern.centred(node(normed).arguments[1 - r]);
        if (row.of < 0) continue;
        const auto error = [&](double x, double mean, double root, double gamma, double beta) {
          return folded_affine_error(declared_.numerics, x, mean, root, gamma, beta);
        };
        return map(extents(), error, values_[row.of].value, values_[row.mean].value, values_[node(normed).arguments[r]].value,
                   values_[scaled.arguments[g]].value, values_[sum.arguments[1 - k]].value);
      }
    }
  }
  return {};
}

}  // namespace assay::formula
