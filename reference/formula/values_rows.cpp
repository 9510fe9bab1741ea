// SPDX-License-Identifier: Apache-2.0
// Rows under softmax and its kin (values.hpp).
#include <algorithm>
#include <cmath>

#include "reference/formula/values.hpp"

namespace assay::formula {

int Values::earlier_rows(int i) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  for (int k = 0; k < i; ++k) {
    const Node& other = graph_.nodes[static_cast<std::size_t>(k)];
    const bool has_rows = info(other.kind).group == Group::row_function || other.kind == Kind::logsumexp;
    if (has_rows && other.over == node.over && other.arguments == node.arguments && has(k)) return k;
  }
  return -1;
}

RowParts Values::rows_of(const Field& x, AxisSet over) const {
  RowParts rows;
  rows.most = max_over(extents_, over, x);
  rows.top = map(
      extents_, [](double m) { return std::isfinite(m) ? m : 0.0; }, rows.most);
  rows.distance = map(
      extents_, [](double v, double m) { return m - v; }, x, rows.top);
  const Field e = map(
      extents_, [](double d) { return std::exp(-d); }, rows.distance);
  const auto sums = fold_each<3>(
      extents_, over, {Fold::total, Fold::total, Fold::largest},
      [](double v, double of) {
        return std::array{v, v > 0 ? 1.0 : 0.0, v > 0 && std::isfinite(of) ? std::fabs(of) : 0.0};
      },
      e, x);
  rows.count = sums[1];
  rows.largest = sums[2];
  rows.weight = map(
      extents_, [](double v, double s) { return s > 0 ? v / s : 0.0; }, e, sums[0]);
  rows.log_sum = map(
      extents_, [](double s) { return s > 0 ? std::log(s) : 0.0; }, sums[0]);
  const auto weighted = fold_each<2>(
      extents_, over, {Fold::total, Fold::total},
      [](double p, double d) {
        return std::array{by(p, std::isfinite(d) ? d : 0.0), p * p};
      },
      rows.weight, rows.distance);
  rows.spread = weighted[0];
  rows.squares = weighted[1];
  return rows;
}

// A maximum that is infinite or NaN is subtracted from itself, so the row is NaN; logsumexp's answer is that maximum.
void Values::find_rows(int i, Known& y) const {
  const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
  const Field& x = (*this)[node.arguments[0]].value;
  const int earlier = earlier_rows(i);
  y.rows = earlier >= 0 ? (*this)[earlier].rows : rows_of(x, node.over);
  const RowParts& rows = y.rows;
  if (node.kind == Kind::softmax || node.kind == Kind::softmax_or_zero) {
    const double of_none = node.kind == Kind::softmax ? kNaN : 0;
    y.value = rows.weight;
    if (std::all_of(rows.most.at.begin(), rows.most.at.end(), [](double m) { return std::isfinite(m); })) return;
    y.value = map(
        extents_, [of_none](double p, double m) { return std::isfinite(m)  ? p
                                                         : m == -kInfinity ? of_none
                                                                           : kNaN; }, rows.weight,
        rows.most);
    return;
  }
  y.value = map(
      extents_, [](double l, double m) { return std::isfinite(m) ? l + m : m; }, rows.log_sum, rows.most);
  if (node.kind == Kind::log_softmax)
    y.value = map(
        extents_, [](double d, double l, double m) { return std::isfinite(m) ? -(d + l) : kNaN; }, y.rows.distance,
        y.rows.log_sum, y.rows.most);
}

}  // namespace assay::formula
