// SPDX-License-Identifier: Apache-2.0
// Golden reductions in f64: a row is split into pieces of 64 Ki elements, which threads share if there is one long row.
#include "ops/row_reduce.hpp"

#include <limits>
#include <vector>

#include "ops/core/linked.hpp"
#include "reference/core/load.hpp"
#include "reference/core/scratch.hpp"
#include "reference/formula/linked_formula.hpp"

namespace assay::reference {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kPiece = 1 << 16;

// f of each piece of a row, in order.
template <class F>
std::vector<double> of_pieces(const Tensor& x, std::int64_t row, F f) {
  const std::int64_t cols = x.shape[1];
  std::vector<double> values(static_cast<std::size_t>((cols + kPiece - 1) / kPiece));
#pragma omp parallel for schedule(static) if (values.size() > 1)
  for (std::size_t p = 0; p < values.size(); ++p) {
    const std::int64_t first = static_cast<std::int64_t>(p) * kPiece;
    values[p] = f(load(x, row * cols + first, std::min(kPiece, cols - first)));
  }
  return values;
}

template <class F>
double sum_of(const Tensor& x, std::int64_t row, F f) {
  double sum = 0;
  for (const double v : of_pieces(x, row, [&](const Eigen::ArrayXd& piece) -> double { return f(piece).sum(); })) sum += v;
  return sum;
}

double max_of(const Tensor& x, std::int64_t row) {
  double max = -kInfinity;
  for (const double v : of_pieces(x, row, [](const Eigen::ArrayXd& piece) { return piece.maxCoeff<Eigen::PropagateNaN>(); }))
    max = std::isnan(v) || std::isnan(max) ? max + v : std::max(max, v);
  return max;
}

// How many zeros have this reciprocal.
double zeros_of(const Tensor& x, std::int64_t row, double reciprocal) {
  const auto is_one = [reciprocal](const Eigen::ArrayXd& v) -> Eigen::ArrayXd {
    return (v.inverse() == reciprocal).cast<double>();
  };
  return sum_of(x, row, is_one);
}

void reduce_row(const row_reduce::Args& a, row_reduce::Golden& g, std::int64_t row) {
  const auto r = static_cast<std::size_t>(row);
  const auto own = [](const Eigen::ArrayXd& v) -> const Eigen::ArrayXd& { return v; };
  g.second[r] = 0;
  switch (a.what) {
    case Reduction::sum:
      g.y[r] = sum_of(a.x, row, own);
      g.magnitude[r] = sum_of(a.x, row, [](const Eigen::ArrayXd& v) { return v.abs(); });
      g.second[r] = sum_of(a.x, row, [](const Eigen::ArrayXd& v) { return v.square(); });
      return;
    case Reduction::sum_of_squares:
      g.y[r] = g.magnitude[r] = sum_of(a.x, row, [](const Eigen::ArrayXd& v) { return v.square(); });
      return;
    case Reduction::max:
      g.y[r] = g.magnitude[r] = max_of(a.x, row);
      g.second[r] = g.y[r] == 0 && zeros_of(a.x, row, kInfinity) > 0 && zeros_of(a.x, row, -kInfinity) > 0;
      return;
    case Reduction::logsumexp: break;
  }
  const double max = g.y[r] = g.magnitude[r] = max_of(a.x, row);
  if (!std::isfinite(max)) return;  // max = inf, -inf or NaN is the result
  // Note: std::exp, since Eigen's returns 5e-309 where exp underflows to 0.
  const auto exp = [&](const Eigen::ArrayXd& v) { return (v - max).unaryExpr([](double d) { return std::exp(d); }); };
  const double sum = sum_of(a.x, row, exp);
  g.y[r] = max + std::log(sum);
  // Note: the test avoids 0 * inf where x is -inf.
  g.second[r] = sum_of(a.x, row,
                       [&](const Eigen::ArrayXd& v) {
                         return (v - max).unaryExpr([](double d) { return std::isinf(d) ? 0 : -d * std::exp(d); });
                       }) /
                sum;
}

}  // namespace

// Note: y [rows] is a single row, so all rows of x are always computed.
void golden(const row_reduce::Args& a, row_reduce::Golden& g, const Rows&) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 1) return reduce_row(a, g, 0);
#pragma omp parallel for schedule(static)
  for (std::int64_t r = 0; r < rows; ++r) reduce_row(a, g, r);
}

// Each thread has a piece of a row, and what is made of it.
double scratch(const row_reduce::Args& a, const Rows&) {
  const auto piece = static_cast<double>(std::min(kPiece, a.x.shape[1]));
  return bytes_of(static_cast<double>(omp_get_max_threads()) * 2 * piece);
}

static const LinkedGolden<row_reduce> linked_row_reduce(golden, scratch);

}  // namespace assay::reference

namespace assay::formula {

static void write(const assay::row_reduce::Args& a, Formula& f) {
  const Array x = f.in("x");
  const Axis cols("cols");
  switch (a.what) {
    case Reduction::sum: return f.out("y", sum(cols)(x));
    case Reduction::max: return f.out("y", max(cols)(x));
    case Reduction::logsumexp: return f.out("y", logsumexp(cols)(x));
    case Reduction::sum_of_squares: return f.out("y", sum(cols)(square(x)));
  }
}

static const LinkedFormula<assay::row_reduce> formula_of_row_reduce("row_reduce", write);

}  // namespace assay::formula
