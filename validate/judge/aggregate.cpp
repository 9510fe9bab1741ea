// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/core/gemm_bound.hpp"
#include "ops/core/stored.hpp"
#include "validate/problem/bounds.hpp"
#include "validate/tasks/memory.hpp"

namespace assay {

namespace {

// The oracle runs only for problems of at most so many operations; at some 20 ns each, they take 0.02 s.
constexpr double kPredictedFlops = 1e6;

// The numerics of the same kernel if it stored no step but those that belong to A in any case.
Numerics without_storage(const ByFormula& formula, Numerics n) {
  std::string kept;
  for (const FormulaStep& step : formula.steps) {
    const std::string_view said = said_of(n.stores, step.name);
    if (said.empty() || !step.is_summed || step.has_own_sums) continue;
    append_name(kept, step.name);
    kept += said.substr(name_of(said).size());  // its dtype
  }
  n.stores = lasting(kept);
  return n;
}

// Whether the same rounding error may repeat: of stored steps, of sums of few terms, of weights that are narrowed factors.
bool repeats(const ByFormula& formula, const Numerics& n, bool few) {
  return n.factors.precision != 0 || std::ranges::any_of(formula.steps, [&](const FormulaStep& step) {
           return !said_of(n.stores, step.name).empty() && (!step.is_summed || (few && step.has_own_sums));
         });
}

// Whether sums of so many terms take fewer values than there are rows.
bool few_values(DType t, std::int64_t terms, std::int64_t rows) {
  return std::exp2(static_cast<double>(terms * (info(t).format.precision - 1))) < static_cast<double>(rows);
}

// Half the distance between neighbouring numbers of `t` at v.
double half_spacing(DType t, double v) {
  const FloatFormat f = info(t).format;
  return detail::exp2i(std::max(std::ilogb(v), f.min_exponent) - f.precision);
}

// A sum over elements, and the same sum with each element times the sign of its golden.
struct BothWays {
  double plain = 0, by_sign = 0;
  void add(double z, double golden) {
    plain += z;
    by_sign += std::signbit(golden) ? -z : z;
  }
  void add(const BothWays& of) {
    plain += of.plain;
    by_sign += of.by_sign;
  }
  void add_squares(const BothWays& of) {
    plain += of.plain * of.plain;
    by_sign += of.by_sign * of.by_sign;
  }
};

// Sums over one row.
struct Row {
  BothWays z, last, added;  // of z; of the golden's own last rounding (Z); of the error of a parameter that is added last (C)
  double allowed = 0, squares = 0, expected = 0, last_squares = 0, last_expected = 0;
  std::int64_t elements = 0;
};

static_assert(sizeof(Row) == kBytesOfRowSums);

// Sums over rows; spread: of n_r V_r.
struct Sums {
  BothWays z, z_sq, last, added;
  double allowed = 0, allowed_sq = 0, squares = 0, expected = 0, last_squares = 0, last_expected = 0;
  double sizes_sq = 0, spread = 0, most = 0, elements = 0;
  void add(const Row& r) {
    const auto n = static_cast<double>(r.elements);
    z.add(r.z);
    z_sq.add_squares(r.z);
    last.add(r.last);
    added.add(r.added);
    allowed += r.allowed;
    allowed_sq += r.allowed * r.allowed;
    squares += r.squares;
    expected += r.expected;
    last_squares += r.last_squares;
    last_expected += r.last_expected;
    sizes_sq += n * n;
    spread += n * r.expected;
    most = std::max(most, n);
    elements += n;
  }
  double limit(double BothWays::*way) const {
    return allowed + std::fabs(last.*way) + std::fabs(added.*way) + kLambda * (std::sqrt(z_sq.*way) + std::sqrt(allowed_sq));
  }
  double squares_limit() const {
    const double rho = std::max(1.0, last_squares / last_expected), l = kLambda * kLambda / 2, third = most * l / 3;
    const double bernstein = third + std::sqrt(third * third + 2 * l * rho * spread), hoeffding = std::sqrt(l / 2 * sizes_sq);
    return rho * expected + std::min(bernstein, hoeffding);
  }
};

class Elements {
 public:
  Elements(const Problem& problem, const ByFormula& formula, const Numerics& numerics, DType dtype, int output, bool repeats)
      : golden_(problem.golden(output)),
        dtype_(dtype),
        last_addend_(unit_roundoff(numerics.accumulate) < unit_roundoff(dtype) ? Tensor{} : problem.tensor(formula.last_addend)),
        repeats_(repeats),
        symmetric_(formula.only_sums && numerics.mma_terms == 0 && !repeats_),
        narrowed_(numerics.factors.precision != 0),
        unstored_(without_storage(formula, numerics)),
        bounds_(problem.bounds(numerics, output)),
        unstored_bounds_(problem.bounds(unstored_, output)),
        typical_(problem.bounds_with(errors_of(problem, numerics), numerics, output)),
        unstored_typical_(problem.bounds_with(errors_of(problem, numerics), unstored_, output)) {}

  void add(Row& row, std::int64_t at, double got) const {
    const auto i = static_cast<std::size_t>(at);
    const double golden = golden_[i], bound = bounds_[i];
    if (!std::isfinite(golden) || !std::isfinite(got) || !(bound > 0) || !std::isfinite(bound)) return;
    if (!(std::fabs(golden) + bound < overflow_threshold(dtype_))) return;
    const double u = unit_roundoff(dtype_), h = half_spacing(dtype_, golden);
    const double last = u * std::fabs(golden) + rounding_floor(dtype_);
    const double signs = repeats_ ? bound : unstored_bounds_[i];  // T'
    const double allowed = std::min((symmetric_ ? 0 : std::clamp(signs - last, 0.0, bound)) + u * h, bound);
    const double z = (got - golden) / bound, v = typical(i, bound, last, h) / bound;
    row.z.add(z, golden);
    const double of_last = (round_to(dtype_, golden) - golden) / bound;
    row.last.add(of_last, golden);
    row.last_squares += of_last * of_last;
    row.last_expected += h * h / (3 * bound * bound);
    if (last_addend_.rank) row.added.add(lost_of(last_addend_.at(at % last_addend_.size()), golden, 2 * h) / bound, golden);
    row.allowed += allowed / bound;
    row.squares += z * z;
    row.expected += std::min(v * v, 1.0);
    ++row.elements;
  }

 private:
  // The declared roundings of a composite op are those of its stages, whose hooks are not known here: no typical size, but T.
  static Errors errors_of(const Problem& problem, const Numerics& n) { return n.of_output ? problem.errors() : Errors::typical; }

  // The root mean square of an error, at most.
  double typical(std::size_t i, double bound, double last, double h) const {
    const double u = unit_roundoff(dtype_), unstored = unstored_bounds_[i], of_chain = unstored_typical_[i];
    const double stored = std::max(0.0, bound - unstored);
    const double chain = std::max(0.0, (narrowed_ ? unstored : of_chain) - last) + u * h;
    if (repeats_) return h / std::sqrt(3.0) + chain + stored;
    const double walk = std::min(stored, std::max(0.0, typical_[i] - of_chain));
    return std::sqrt((h * h + walk * walk) / 3) + chain;
  }

  // The rounding error of a parameter that is added last.  If the sum before it is no smaller than the output, that sum is a
  // multiple of the output's spacing, so the parameter is rounded to a multiple of it too.  Otherwise nothing is known: 0.
  static double lost_of(double added, double golden, double spacing) {
    return std::ilogb(golden - added) < std::ilogb(golden) ? 0 : std::nearbyint(added / spacing) * spacing - added;
  }

  std::span<const double> golden_;
  DType dtype_;
  Tensor last_addend_;  // of rank 0: none
  bool repeats_, symmetric_, narrowed_;
  Numerics unstored_;  // without stored intermediates
  std::span<const double> bounds_, unstored_bounds_, typical_, unstored_typical_;
};

// `like`: the output's shape and dtype.
template <class Got>
Sums sums_of(const Problem& problem, const ByFormula& formula, const Numerics& numerics, const Tensor& like, int output,
             bool repeats, const Got& got) {
  const std::int64_t n = like.size();
  Sums sums;
  const Rows& rows = problem.rows();
  if (rows.total == 0 || n == 0) return sums;
  const Elements elements(problem, formula, numerics, like.dtype, output, repeats);
  std::vector<Row> each;
  if (output == 0) {
    const std::int64_t length = n / rows.total, count = rows.count();
    each.resize(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t i = rows[k] * length; i < (rows[k] + 1) * length; ++i)
        elements.add(each[static_cast<std::size_t>(k)], i, got(i));
  } else {  // its rows are not consecutive
    each.resize(static_cast<std::size_t>(rows.total));
    const SolvedElements solved(problem, output, n);
    for (std::int64_t k = 0; k < solved.count(); ++k)
      elements.add(each.at(static_cast<std::size_t>(problem.row_of(output, solved[k]))), solved[k], got(solved[k]));
  }
  for (const Row& r : each) sums.add(r);  // in order, so that the bits do not depend on the number of threads
  return sums;
}

}  // namespace

bool same_roundings(const Numerics& a, const Numerics& b) {
  return a.accumulate == b.accumulate && a.factors == b.factors && a.stores == b.stores && a.ways == b.ways &&
         a.cancelling_gelu == b.cancelling_gelu;
}

Aggregate aggregate(const Problem& problem, const ByFormula& formula, const Numerics& numerics, const Tensor& got, int output,
                    std::int64_t terms) {
  const bool few = few_values(got.dtype, terms, problem.rows().total);
  const auto at = [&](std::int64_t i) { return got.at(i); };
  const Sums s = sums_of(problem, formula, numerics, got, output, repeats(formula, numerics, few), at);
  Aggregate a;
  a.elements = static_cast<std::int64_t>(s.elements);
  if (a.elements == 0) return a;
  a.rms = std::sqrt(s.squares / s.elements);
  a.rms_limit = std::sqrt(s.squares_limit() / s.elements);
  a.predicted_rms = std::sqrt(s.expected / s.elements);
  if (output != 0) return a;
  const double by_sign_limit = s.limit(&BothWays::by_sign), plain_limit = s.limit(&BothWays::plain);
  a.towards_zero = std::fabs(s.z.by_sign) * plain_limit >= std::fabs(s.z.plain) * by_sign_limit;
  a.bias = (a.towards_zero ? s.z.by_sign : s.z.plain) / s.elements;
  a.bias_limit = (a.towards_zero ? by_sign_limit : plain_limit) / s.elements;
  return a;
}

double Predictions::rms(const Op& op, const Problem& problem, const Numerics& numerics, const Tensor& like) {
  if (!op.formula.oracle || !problem.rows().all() || !(problem.cost().flops <= kPredictedFlops)) return 0;
  std::unique_lock lock(mutex_);
  auto at = std::find_if(oracles_.begin(), oracles_.end(), [&](const auto& o) { return same_roundings(o.first, numerics); });
  if (at == oracles_.end()) {
    std::vector<double> y(static_cast<std::size_t>(like.size()));
    op.formula.first_by_oracle(problem.args(), numerics, Roundings::declared, y);
    for (double& v : y) v = round_to(like.dtype, v);
    at = oracles_.insert(oracles_.end(), {numerics, std::move(y)});
  }
  const std::vector<double>& answers = at->second;  // Note: adding to the deque does not move it
  lock.unlock();
  const auto answer = [&](std::int64_t i) { return answers[static_cast<std::size_t>(i)]; };
  const Sums s = sums_of(problem, op.formula, numerics, like, 0, false, answer);
  return s.elements > 0 ? std::sqrt(s.squares / s.elements) : 0;
}

std::string aggregate_fault(const Aggregate& a, double predicted) {
  if (a.elements == 0 || a.within()) return {};
  if (!a.rms_within())
    return fmt::format("aggregate: the rms error is {:.3g} of what the numerics predict, {:.3g} is the most", a.rms / predicted,
                       a.rms_limit / predicted);
  return fmt::format("aggregate: errors of one sign, their mean {}{:.3g} of the predicted rms, ±{:.3g} is the most",
                     a.towards_zero ? (a.bias < 0 ? "towards zero " : "away from zero ") : "",
                     a.towards_zero ? std::fabs(a.bias / predicted) : a.bias / predicted, a.bias_limit / predicted);
}

}  // namespace assay
