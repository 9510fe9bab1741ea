// SPDX-License-Identifier: Apache-2.0
// Loops over elements, and sums over axes.  Products are Eigen's.
#include "reference/formula/field.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace assay::formula {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The axes of three sets, one set after the other; those of one position make no difference.
std::vector<int> in_order(const Extents& e, AxisSet first, AxisSet second, AxisSet third) {
  std::vector<int> axes;
  for (const AxisSet part : {first, second, third})
    for (const int axis : list_of(part))
      if (e[axis] != 1) axes.push_back(axis);
  return axes;
}

// The places of a field's elements.
Places places_of(const Field& a, const Extents& e) { return places_in(list_of(a.axes), e); }

// A factor of products: matrices [own, inner], or turned [inner, own], one for each position along `batch`.  A field that has
// its axes in neither order is copied.
struct Factor {
  bool turned = false;
  std::vector<double> moved{};
  const double* data = nullptr;
  Factor(const Extents& e, const Field& a, AxisSet batch, AxisSet own, AxisSet inner) : data(a.at.data()) {
    const std::vector<int> order = in_order(e, batch, own, inner), other = in_order(e, batch, inner, own);
    if (std::is_sorted(order.begin(), order.end())) return;
    turned = std::is_sorted(other.begin(), other.end());
    if (turned) return;
    moved.resize(a.at.size());
    walk(order, e, places_of(a, e), [&](std::size_t k, std::size_t i) { moved[k] = a.at[i]; });
    data = moved.data();
  }
};

}  // namespace

namespace detail {

void RowFold::add(Fold by, const double* x, std::int64_t count) {
  if (by == Fold::largest) {
    double largest = Eigen::Map<const Eigen::ArrayXd>(x, count).maxCoeff<Eigen::PropagateNaN>();
    if (largest == 0 && std::any_of(x, x + count, [](double v) { return v == 0 && !std::signbit(v); })) largest = 0;
    most = larger(most, largest);
    return;
  }
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (std::size_t k = 0; k < 8; ++k) sums[k] += x[i + static_cast<std::int64_t>(k)];
  for (; i < count; ++i) sums[0] += x[i];
}

double RowFold::with(Fold by, double before) const {
  if (by == Fold::largest) return larger(before, most);
  return before + (((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7])));
}

void fold_into(Fold by, double* to, const double* x, std::int64_t count) {
  const Eigen::Map<const Eigen::ArrayXd> row(x, count);
  Eigen::Map<Eigen::ArrayXd> so_far(to, count);
  if (by == Fold::total) {
    so_far += row;
    return;
  }
  so_far = (row > so_far || row.isNaN()).select(row, so_far);
  for (std::int64_t i = 0; i < count; ++i)
    if (to[i] == 0) to[i] = larger(to[i], x[i]);
}

namespace {

// Reads runs of an array's rows: its elements, or where it lacks the innermost axis, one repeated.
class Reader {
 public:
  void set(const double* from, bool repeats) {
    from_ = from;
    repeats_ = repeats;
  }
  const double* run(std::int64_t offset, std::int64_t first, std::int64_t count) {
    if (!repeats_) return from_ + offset + first;
    if (offset != of_ || filled_ < count) {
      std::fill_n(repeated_.begin(), count, from_[offset]);
      of_ = offset;
      filled_ = count;
    }
    return repeated_.data();
  }

 private:
  const double* from_ = nullptr;
  bool repeats_ = false;
  std::int64_t of_ = 0, filled_ = 0;  // what is repeated
  std::array<double, kRun> repeated_;
};

// Several arrays in one loop.
class Readers {
 public:
  Readers(const Loop& loop, std::span<const Field* const> fields) : count_(fields.size()) {
    for (std::size_t n = 0; n < count_; ++n) {
      steps[n] = loop.steps(fields[n]->axes);
      of_[n].set(fields[n]->at.data(), loop.depth == 0 || steps[n].stride[loop.last()] == 0);
    }
  }
  // Calls visit(first element, count, elements of each array) for each run of a row.
  template <class Visit>
  void row(const Offsets& offset, std::int64_t inner, Visit&& visit) {
    std::array<const double*, kMostArrays> from;
    for (std::int64_t first = 0; first < inner; first += kRun) {
      const std::int64_t count = std::min(kRun, inner - first);
      for (std::size_t n = 0; n < count_; ++n) from[n] = of_[n].run(offset[n], first, count);
      visit(first, count, from.data());
    }
  }
  std::array<Steps, kMostArrays> steps;

 private:
  std::size_t count_;
  std::array<Reader, kMostArrays> of_;
};

}  // namespace

Field map_runs(const Extents& e, AxisSet more, std::span<const Field* const> fields, RunFunction run) {
  std::array<AxisSet, kMostArrays> of{};
  AxisSet axes = more;
  for (std::size_t n = 0; n < fields.size(); ++n) {
    of[n] = fields[n]->axes;
    axes |= of[n];
  }
  Field out = Field::unwritten(axes, e);
  const Loop loop(axes, 0, e, std::span(of).first(fields.size()));
  Readers readers(loop, fields);
  double* to = out.at.own();
  each_row(loop, std::span(readers.steps).first(fields.size()), [&](const Offsets& offset) {
    readers.row(offset, loop.inner(), [&](std::int64_t, std::int64_t count, const double* const* from) {
      run.call(run.object, count, &to, from);
      to += count;
    });
  });
  return out;
}

void fold_runs(const Extents& e, AxisSet over, std::span<const Fold> by, std::span<const Field* const> fields, RunFunction run,
               Field* out) {
  const std::size_t arrays = fields.size();  // and the results, as the last array of the loop
  std::array<AxisSet, kMostArrays> of{};
  AxisSet axes = 0;
  for (std::size_t n = 0; n < arrays; ++n) {
    of[n] = fields[n]->axes;
    axes |= of[n];
  }
  const AxisSet kept = axes & ~over;
  of[arrays] = kept;
  std::array<double*, kMostFolds> to;
  for (std::size_t m = 0; m < by.size(); ++m) {
    const double zero = axes & over ? 0.0 : -0.0;  // Note: 0 + -0 is 0, -0 + v is v
    out[m] = Field::like(kept, e, by[m] == Fold::largest ? -kInfinity : zero);
    to[m] = out[m].at.own();
  }
  const Loop loop(axes, over, e, std::span(of).first(arrays + 1));
  Readers readers(loop, fields);
  readers.steps[arrays] = loop.steps(kept);
  const bool row_by_row = loop.depth > 0 && readers.steps[arrays].stride[loop.last()] == 0;
  std::array<std::array<double, kRun>, kMostFolds> made;
  std::array<double*, kMostFolds> runs;
  for (std::size_t m = 0; m < by.size(); ++m) runs[m] = made[m].data();
  each_row(loop, std::span(readers.steps).first(arrays + 1), [&](const Offsets& offset) {
    std::array<RowFold, kMostFolds> rows;
    readers.row(offset, loop.inner(), [&](std::int64_t first, std::int64_t count, const double* const* from) {
      run.call(run.object, count, runs.data(), from);
      for (std::size_t m = 0; m < by.size(); ++m)
        if (row_by_row) rows[m].add(by[m], runs[m], count);
        else fold_into(by[m], to[m] + offset[arrays] + first, runs[m], count);
    });
    if (row_by_row)
      for (std::size_t m = 0; m < by.size(); ++m) to[m][offset[arrays]] = rows[m].with(by[m], to[m][offset[arrays]]);
  });
  const auto times = static_cast<double>(e.size(over & ~axes));
  for (std::size_t m = 0; m < by.size(); ++m)
    if (by[m] == Fold::total && times != 1) std::for_each(to[m], to[m] + out[m].at.size(), [times](double& v) { v *= times; });
}

}  // namespace detail

Places places_in(std::span<const int> axes, const Extents& e) {
  Places places;
  std::int64_t stride = 1;
  for (std::size_t d = axes.size(); d-- > 0;) {
    for (std::int64_t i = 0; i < e[axes[d]]; ++i) places[static_cast<std::size_t>(axes[d])].push_back(i * stride);
    stride *= e[axes[d]];
  }
  return places;
}

Field pick(const Extents& e, const Field& a, int axis, std::span<const std::int64_t> positions) {
  if (!(a.axes >> axis & 1)) return a;
  const AxisSet below = a.axes & ~((AxisSet{2} << axis) - 1), above = a.axes & ((AxisSet{1} << axis) - 1);
  const std::int64_t inner = e.size(below), outer = e.size(above), extent = e[axis];
  const auto count = static_cast<std::int64_t>(positions.size());
  const bool adjacent = count > 0 && positions.back() - positions.front() == count - 1 &&
                        std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) == positions.end();
  if (adjacent && outer == 1)
    return {a.axes, a.at.part(static_cast<std::size_t>(positions.front() * inner), static_cast<std::size_t>(count * inner))};
  Field out{a.axes, Numbers::unwritten(static_cast<std::size_t>(outer * count * inner))};
  double* to = out.at.own();
  for (std::int64_t o = 0; o < outer; ++o) {
    const double* const from = a.at.data() + o * extent * inner;
    if (adjacent) to = std::copy_n(from + positions.front() * inner, count * inner, to);
    else
      for (const std::int64_t position : positions) to = std::copy_n(from + position * inner, inner, to);
  }
  return out;
}

Field sum_over(const Extents& e, AxisSet over, const Field& a) {
  return sum_of(
      e, over, [](double v) { return v; }, a);
}

Field max_over(const Extents& e, AxisSet over, const Field& a) {
  return max_of(
      e, over, [](double v) { return v; }, a);
}

Field dot_over(const Extents& e, AxisSet over, const Field& left, const Field& right) {
  const AxisSet lacking_left = over & ~left.axes, lacking_right = over & ~right.axes;
  if (lacking_left && lacking_right && (lacking_left & lacking_right)) {
    const auto times = static_cast<double>(e.size(lacking_left & lacking_right));
    return map(
        e, [times](double v) { return v * times; }, dot_over(e, over & ~(lacking_left & lacking_right), left, right));
  }
  // What one factor lacks is summed in the other first.
  Field of_left, of_right;
  if (lacking_right & left.axes) of_left = sum_over(e, lacking_right, left);
  if (lacking_left & right.axes) of_right = sum_over(e, lacking_left, right);
  const Field& a = lacking_right & left.axes ? of_left : left;
  const Field& b = lacking_left & right.axes ? of_right : right;
  const AxisSet inner = over & a.axes & b.axes, batch = a.axes & b.axes & ~over;
  const AxisSet rows = a.axes & ~b.axes, columns = b.axes & ~a.axes;
  if (!inner)
    return map(
        e, [](double x, double y) { return x * y; }, a, b);

  // Note: the bits of a product would depend on the number of threads that share it.  Parts have threads (evaluate.cpp).
  static const bool alone = (Eigen::setNbThreads(1), true);
  (void)alone;
  const Eigen::Index m = e.size(rows), n = e.size(columns), k = e.size(inner), count = e.size(batch);
  const Factor x(e, a, batch, rows, inner), y(e, b, batch, columns, inner);
  Field out = Field::unwritten(batch | rows | columns, e);
  double* const all = out.at.own();
  for (Eigen::Index i = 0; i < count; ++i) {
    Eigen::Map<Matrix> to(all + i * m * n, m, n);
    const double* const p = x.data + i * m * k;
    const double* const q = y.data + i * n * k;
    using From = Eigen::Map<const Matrix>;
    to.setZero();  // Note: a sum starts at 0, so that products that are all -0 give 0; Eigen's small products start at the first
    if (x.turned && y.turned) to.noalias() += From(p, k, m).transpose() * From(q, k, n);
    else if (x.turned) to.noalias() += From(p, k, m).transpose() * From(q, n, k).transpose();
    else if (y.turned) to.noalias() += From(p, m, k) * From(q, k, n);
    else to.noalias() += From(p, m, k) * From(q, n, k).transpose();
  }
  const std::vector<int> order = in_order(e, batch, rows, columns);
  if (std::is_sorted(order.begin(), order.end())) return out;
  Field in_graphs_order = Field::unwritten(out.axes, e);
  double* const moved = in_graphs_order.at.own();
  walk(order, e, places_of(out, e), [&](std::size_t from, std::size_t to) { moved[to] = all[from]; });
  return in_graphs_order;
}

}  // namespace assay::formula
