// SPDX-License-Identifier: Apache-2.0
// Sums over axes.  Products are Eigen's.
#include "reference/formula/field.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace assay::formula {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The axes of three sets, one set after the other.
struct Order {
  std::vector<int> axes;
  bool of_graph = true;  // whether that is the graph's order too, so that nothing moves
  Order(AxisSet first, AxisSet second, AxisSet third) {
    for (const AxisSet part : {first, second, third})
      for (AxisSet rest = part; rest; rest &= rest - 1) axes.push_back(std::countr_zero(rest));
    of_graph = std::is_sorted(axes.begin(), axes.end());
  }
};

// Calls visit(k, i): the k-th element in that order of axes is element i in the graph's.
template <class Visit>
void each_in(const Order& order, const Extents& e, Visit&& visit) {
  AxisSet axes = 0;
  for (const int axis : order.axes) axes |= AxisSet{1} << axis;
  std::array<std::int64_t, kMostAxes> stride{};
  std::int64_t step = 1;
  for (int axis = kMostAxes - 1; axis >= 0; --axis) {
    if (!(axes >> axis & 1)) continue;
    stride[static_cast<std::size_t>(axis)] = step;
    step *= e[axis];
  }
  std::vector<std::int64_t> index(order.axes.size(), 0);
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < step; ++k) {
    visit(static_cast<std::size_t>(k), static_cast<std::size_t>(i));
    for (std::size_t d = order.axes.size(); d-- > 0;) {
      const int axis = order.axes[d];
      const std::int64_t along = stride[static_cast<std::size_t>(axis)];
      i += along;
      if (++index[d] < e[axis]) break;
      i -= along * e[axis];
      index[d] = 0;
    }
  }
}

template <class Fold>
Field fold(const Extents& e, AxisSet over, const Field& a, double neutral, Fold&& fold_row) {
  const AxisSet along = a.axes & over, kept = a.axes & ~over;
  Field out = Field::like(kept, e, neutral);
  if (a.at.empty()) return out;
  if (along == 0) {
    out.at = a.at;
    return out;
  }
  const detail::Loop loop(a.axes, e);
  const std::array<detail::Steps, 2> steps{loop.steps(a.axes), loop.steps(kept)};
  const auto last = static_cast<std::size_t>(loop.depth - 1);
  detail::each_row(loop, steps, [&](const std::array<std::int64_t, 2>& offset) {
    fold_row(out.at.data() + offset[1], steps[1].stride[last], a.at.data() + offset[0], loop.extent[last]);
  });
  return out;
}

// In eight sums side by side, so that the order does not depend on where the row lies in memory.
double sum_of(const double* x, std::int64_t count) {
  std::array<double, 8> sums{};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += x[i + static_cast<std::int64_t>(k)];
  for (; i < count; ++i) sums[0] += x[i];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

Field sum_over(const Extents& e, AxisSet over, const Field& a) {
  Field out = fold(e, over, a, 0.0, [](double* to, std::int64_t step, const double* from, std::int64_t count) {
    if (step == 0) *to += sum_of(from, count);
    else Eigen::Map<Eigen::ArrayXd>(to, count) += Eigen::Map<const Eigen::ArrayXd>(from, count);
  });
  const auto times = static_cast<double>(e.size(over & ~a.axes));
  if (times != 1)
    for (double& v : out.at) v *= times;
  return out;
}

Field max_over(const Extents& e, AxisSet over, const Field& a) {
  return fold(e, over, a, -kInfinity, [](double* to, std::int64_t step, const double* from, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      if (from[i] > to[i * step] || std::isnan(from[i])) to[i * step] = from[i];
  });
}

Field dot_over(const Extents& e, AxisSet over, const Field& left, const Field& right) {
  const AxisSet lacking_left = over & ~left.axes, lacking_right = over & ~right.axes;
  if (lacking_left && lacking_right && (lacking_left & lacking_right)) {
    Field out = dot_over(e, over & ~(lacking_left & lacking_right), left, right);
    const auto times = static_cast<double>(e.size(lacking_left & lacking_right));
    for (double& v : out.at) v *= times;
    return out;
  }
  // What one factor lacks is summed in the other first.
  const Field a = lacking_right & left.axes ? sum_over(e, lacking_right, left) : left;
  const Field b = lacking_left & right.axes ? sum_over(e, lacking_left, right) : right;
  const AxisSet inner = over & a.axes & b.axes, batch = a.axes & b.axes & ~over;
  const AxisSet rows = a.axes & ~b.axes, columns = b.axes & ~a.axes;
  if (!inner)
    return map(
        e, [](double x, double y) { return x * y; }, a, b);

  const Order of_a(batch, rows, inner), of_b(batch, columns, inner), of_product(batch, rows, columns);
  const auto moved = [&](const Order& order, const Field& from) {
    std::vector<double> out;
    if (order.of_graph) return out;
    out.resize(from.at.size());
    each_in(order, e, [&](std::size_t k, std::size_t i) { out[k] = from.at[i]; });
    return out;
  };
  const std::vector<double> a_moved = moved(of_a, a), b_moved = moved(of_b, b);
  const double* const from_a = a_moved.empty() ? a.at.data() : a_moved.data();
  const double* const from_b = b_moved.empty() ? b.at.data() : b_moved.data();
  const Eigen::Index m = e.size(rows), n = e.size(columns), k = e.size(inner), count = e.size(batch);
  std::vector<double> product(static_cast<std::size_t>(count * m * n));
  for (Eigen::Index i = 0; i < count; ++i) {
    const Eigen::Map<const Matrix> x(from_a + i * m * k, m, k), y(from_b + i * n * k, n, k);
    Eigen::Map<Matrix>(product.data() + i * m * n, m, n).noalias() = x * y.transpose();
  }
  Field out{batch | rows | columns, {}};
  if (of_product.of_graph) {
    out.at = std::move(product);
    return out;
  }
  out.at.resize(product.size());
  each_in(of_product, e, [&](std::size_t k, std::size_t i) { out.at[i] = product[k]; });
  return out;
}

}  // namespace assay::formula
