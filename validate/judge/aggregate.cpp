// SPDX-License-Identifier: Apache-2.0
#include "validate/judge/aggregate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/core/gemm_bound.hpp"
#include "validate/problem/bounds.hpp"

namespace assay {

namespace {

// The oracle runs only for problems of at most so many operations; at some 20 ns each, they take 0.02 s.
constexpr double kPredictedFlops = 1e6;

// The numerics of the same kernel if it stored no intermediate.
Numerics without_storage(Numerics n) {
  n.stores_intermediate = n.stores_every_step = n.narrow_probabilities = false;
  return n;
}

// Whether the same rounding error repeats: of stored intermediates that take few values, or of weights that are narrowed factors.
bool repeats(const Hooks& hooks, const Numerics& n) {
  return n.factors.precision != 0 || (hooks.repeated_roundings && (n.stores_intermediate || n.narrow_probabilities));
}

// Half the distance between neighbouring numbers of `t` at v.
double half_spacing(DType t, double v) {
  const FloatFormat f = info(t).format;
  return detail::exp2i(std::max(std::ilogb(v), f.min_exponent) - f.precision);
}

// A sum over elements, and the same sum with each element times the sign of its golden.
struct BothWays {
  double plain = 0, by_sign = 0;
  void add(double z, double golden) { plain += z, by_sign += std::signbit(golden) ? -z : z; }
  void add(const BothWays& of) { plain += of.plain, by_sign += of.by_sign; }
  void add_squares(const BothWays& of) { plain += of.plain * of.plain, by_sign += of.by_sign * of.by_sign; }
};

// Sums over one row.
struct Row {
  BothWays z, last, added;  // of z; of the golden's own last rounding (Z); of the error of a parameter that is added last (C)
  double allowed = 0, squares = 0, expected = 0, last_squares = 0, last_expected = 0;
  std::int64_t elements = 0;
};

// Sums over rows.
struct Sums {
  BothWays z, z_sq, last, added;
  double allowed = 0, allowed_sq = 0, squares = 0, expected = 0, last_squares = 0, last_expected = 0;
  double sizes_sq = 0, elements = 0;
  void add(const Row& r) {
    const auto n = static_cast<double>(r.elements);
    z.add(r.z), z_sq.add_squares(r.z), last.add(r.last), added.add(r.added);
    allowed += r.allowed, allowed_sq += r.allowed * r.allowed;
    squares += r.squares, expected += r.expected;
    last_squares += r.last_squares, last_expected += r.last_expected;
    sizes_sq += n * n, elements += n;
  }
  double limit(double BothWays::*way) const {
    return allowed + std::fabs(last.*way) + std::fabs(added.*way) + kLambda * (std::sqrt(z_sq.*way) + std::sqrt(allowed_sq));
  }
};

class Elements {
 public:
  Elements(const Problem& problem, const Hooks& hooks, const Numerics& numerics, DType dtype)
      : golden_(problem.golden(0)),
        dtype_(dtype),
        last_addend_(unit_roundoff(numerics.accumulate) < unit_roundoff(dtype) ? nullptr : hooks.last_addend),
        args_(problem.args()),
        symmetric_(hooks.only_sums && numerics.mma_terms == 0 && !repeats(hooks, numerics)),
        signed_numerics_(symmetric_ || repeats(hooks, numerics) ? numerics : without_storage(numerics)),
        bounds_(problem, numerics, 0),
        signed_bounds_(problem, signed_numerics_, 0) {}

  void add(Row& row, std::int64_t i, double got) const {
    const double golden = golden_[static_cast<std::size_t>(i)], bound = bounds_[i];
    if (!std::isfinite(golden) || !std::isfinite(got) || !(bound > 0) || !std::isfinite(bound)) return;
    if (!(std::fabs(golden) + bound < overflow_threshold(dtype_))) return;
    const double u = unit_roundoff(dtype_), h = half_spacing(dtype_, golden);
    const double last = u * std::fabs(golden) + rounding_floor(dtype_);
    const double systematic = symmetric_ ? 0 : std::clamp(signed_bounds_[i] - last, 0.0, bound);
    const double random = std::max(0.0, bound - last - systematic), allowed = std::min(systematic + u * h, bound);
    const double z = (got - golden) / bound, v = (std::sqrt((h * h + random * random) / 3) + allowed) / bound;
    row.z.add(z, golden);
    const double of_last = (round_to(dtype_, golden) - golden) / bound;
    row.last.add(of_last, golden);
    row.last_squares += of_last * of_last, row.last_expected += h * h / (3 * bound * bound);
    if (last_addend_) row.added.add(lost_of(last_addend_(args_, i), golden, 2 * h) / bound, golden);
    row.allowed += allowed / bound;
    row.squares += z * z;
    row.expected += std::min(v * v, 1.0);
    ++row.elements;
  }

 private:
  // The rounding error of a parameter that is added last.  If the sum before it is no smaller than the output, that sum is a
  // multiple of the output's spacing, so the parameter is rounded to a multiple of it too.  Otherwise nothing is known: 0.
  static double lost_of(double added, double golden, double spacing) {
    return std::ilogb(golden - added) < std::ilogb(golden) ? 0 : std::nearbyint(added / spacing) * spacing - added;
  }

  std::span<const double> golden_;
  DType dtype_;
  double (*last_addend_)(const void*, std::int64_t);
  const void* args_;
  bool symmetric_;
  Numerics signed_numerics_;  // their bound is T': no stored intermediates, unless the roundings of these repeat
  Bounds bounds_, signed_bounds_;
};

template <class Got>
Sums sums_of(const Problem& problem, const Hooks& hooks, const Numerics& numerics, const Tensor& like, const Got& got) {
  const std::int64_t n = like.size();
  Sums sums;
  const Rows& rows = problem.rows();
  if (rows.total == 0 || n == 0) return sums;
  const std::int64_t length = n / rows.total, count = rows.count();
  const Elements elements(problem, hooks, numerics, like.dtype);
  std::vector<Row> each(static_cast<std::size_t>(count));
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < count; ++k)
    for (std::int64_t i = rows[k] * length; i < (rows[k] + 1) * length; ++i)
      elements.add(each[static_cast<std::size_t>(k)], i, got(i));
  for (const Row& r : each) sums.add(r);  // in order, so that the bits do not depend on the number of threads
  return sums;
}

}  // namespace

bool same_roundings(const Numerics& a, const Numerics& b) {
  return a.accumulate == b.accumulate && a.factors == b.factors && a.stores_intermediate == b.stores_intermediate &&
         a.narrow_probabilities == b.narrow_probabilities && a.cancelling_gelu == b.cancelling_gelu &&
         a.rounds_weights == b.rounds_weights && a.rounds_rotated == b.rounds_rotated &&
         a.stores_every_step == b.stores_every_step && a.scaled_gradients == b.scaled_gradients;
}

Aggregate aggregate(const Problem& problem, const Hooks& hooks, const Numerics& numerics, const Tensor& got) {
  const Sums s = sums_of(problem, hooks, numerics, got, [&](std::int64_t i) { return got.at(i); });
  Aggregate a;
  a.elements = static_cast<std::int64_t>(s.elements);
  if (a.elements == 0) return a;
  const double by_sign_limit = s.limit(&BothWays::by_sign), plain_limit = s.limit(&BothWays::plain);
  a.towards_zero = std::fabs(s.z.by_sign) * plain_limit >= std::fabs(s.z.plain) * by_sign_limit;
  a.bias = (a.towards_zero ? s.z.by_sign : s.z.plain) / s.elements;
  a.bias_limit = (a.towards_zero ? by_sign_limit : plain_limit) / s.elements;
  a.rms = std::sqrt(s.squares / s.elements);
  const double rho = std::max(1.0, s.last_squares / s.last_expected);
  a.rms_limit = std::sqrt((rho * s.expected + kLambda / 2 * std::sqrt(s.sizes_sq)) / s.elements);
  a.predicted_rms = std::sqrt(s.expected / s.elements);
  return a;
}

double Predictions::rms(const Op& op, const Problem& problem, const Numerics& numerics, const Tensor& like) {
  if (!op.hooks.oracle || !problem.rows().all() || !(problem.cost().flops <= kPredictedFlops)) return 0;
  std::unique_lock lock(mutex_);
  auto at = std::find_if(oracles_.begin(), oracles_.end(), [&](const auto& o) { return same_roundings(o.first, numerics); });
  if (at == oracles_.end()) {
    std::vector<double> y(static_cast<std::size_t>(like.size()));
    op.hooks.oracle(problem.args(), numerics, Roundings::declared, y);
    for (double& v : y) v = round_to(like.dtype, v);
    at = oracles_.insert(oracles_.end(), {numerics, std::move(y)});
  }
  const std::vector<double>& answers = at->second;  // Note: adding to the deque does not move it
  lock.unlock();
  const Sums s = sums_of(problem, op.hooks, numerics, like, [&](std::int64_t i) { return answers[static_cast<std::size_t>(i)]; });
  return s.elements > 0 ? std::sqrt(s.squares / s.elements) : 0;
}

std::string aggregate_fault(const Aggregate& a, double predicted) {
  if (a.elements == 0 || a.within()) return {};
  if (a.rms > a.rms_limit)
    return fmt::format("aggregate: the rms error is {:.3g} of what the numerics predict, {:.3g} is the most", a.rms / predicted,
                       a.rms_limit / predicted);
  return fmt::format("aggregate: errors of one sign, their mean {}{:.3g} of the predicted rms, ±{:.3g} is the most",
                     a.towards_zero ? (a.bias < 0 ? "towards zero " : "away from zero ") : "",
                     a.towards_zero ? std::fabs(a.bias / predicted) : a.bias / predicted, a.bias_limit / predicted);
}

}  // namespace assay
