// SPDX-License-Identifier: Apache-2.0
// Judge hooks of rmsnorm_gemm: exact probes, fills, Freivalds' check, relations.
#include "ops/rmsnorm_gemm.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "ops/core/stored.hpp"
#include "validate/ops/freivalds.hpp"
#include "validate/ops/gemm_fills.hpp"
#include "validate/ops/norm_fills.hpp"
#include "validate/problem/op.hpp"

namespace assay {

namespace {

using draws::normal;
using gemm_fills::hidden_of;

bool is_gamma(const FillSite& s) { return s.tensor == "gamma"; }
double gamma_of_channel(std::int64_t h) { return static_cast<double>(h % 11 - 5); }  // includes zero and negative values

// Rows of +-s, s a power of two: with epsilon = 0, r = 1/s and x r = +-1 exactly for any order of the sum.  At most eight weights
// per feature are nonzero, their places shifting from feature to feature: y is an integer below 128.
double probe_signs(const FillSite& s, std::int64_t i) {
  if (is_gamma(s)) return gamma_of_channel(i);
  const std::int64_t hidden = hidden_of(s), row = i / hidden, h = i % hidden;
  if (s.role == Role::input) return draws::shared_sign(s, i) * random::power_of_two(static_cast<int>(row % 7) - 3);
  const std::int64_t step = (hidden + 7) / 8, place = (h + hidden - row * 5 % hidden) % hidden;
  return place % step == 0 ? static_cast<double>((place / step + row) % 7 - 3) : 0;
}

// One nonzero channel per token: r = sqrt(hidden) / |x|, a power of two if hidden is a power of four, so y is exactly
// sqrt(hidden) gamma w of that channel.
double probe_channel(const FillSite& s, std::int64_t i) {
  if (is_gamma(s)) return gamma_of_channel(i);
  if (s.role == Role::input)
    return gemm_fills::probe_one_hot(s, i) * random::power_of_two(static_cast<int>(i / hidden_of(s) % 5));
  return static_cast<double>((i / hidden_of(s) * 3 + i % hidden_of(s) * 5) % 7 - 3);
}
bool power_of_four(const Dims& d, DType) { return draws::is_power_of_four(d[Axis::hidden]); }

double hot_channel(const FillSite& s, std::int64_t i) {
  const std::int64_t hot = random::index(draws::shared_key(s, random::Purpose::column), 0, hidden_of(s));
  return normal(s, i) * (s.role == Role::input && i % hidden_of(s) == hot ? 1000 : 1);
}
double sparse_gamma(const FillSite& s, std::int64_t i) { return is_gamma(s) && i % 3 ? 0 : normal(s, i); }

// The second half of the channels cancels the first half's terms up to a part, larger in bf16, where kernels that round x r gamma
// or gamma w would swamp a smaller one.
double cancelling(const FillSite& s, std::int64_t i) {
  const std::int64_t half = hidden_of(s) / 2;
  if (is_gamma(s)) return normal(s, i < 2 * half ? i % half : i);
  return gemm_fills::cancelling_but(s.dtype == bf16 ? 0x1p-2 : 0x1p-7, s, i);
}

// Of the sweep alone, beside the formula's bound: rho, the relative error of r, m = mean(x^2), u: unit roundoff of the
// accumulator.  m has n roundings: each square, the chain of additions, the division.  All terms are positive, so partial sums
// are at most m: coherent n u m; independent, a random walk of n steps of u m / sqrt(3): lambda sqrt(n) u m.  Underflow of the
// squares and of their mean: half the least subnormal each. epsilon is rounded and added: 2 u.  A relative error d of m + epsilon
// gives 1/sqrt(1 - d) - 1 in r; root and division add root_error u and quotient_error u.
double inverse_rms_error(const rmsnorm_gemm::Args& a, const Numerics& numerics, Errors errors, double square) {
  const std::int64_t hidden = a.x.shape[1];
  const double u = unit_roundoff(numerics.accumulate), total = square + a.epsilon;
  const double n = static_cast<double>(numerics.chain.roundings(hidden) + 1 + division_roundings(hidden));
  const double d = (walked(errors, n) * u * square + 2 * u * total + 2 * rounding_floor(numerics.accumulate)) / total;
  if (!(d < 1)) return std::numeric_limits<double>::infinity();
  return 1 / std::sqrt(1 - d) - 1 + (numerics.root_error + numerics.quotient_error) * u;
}

// Freivalds' check with z = x r gamma, with norms over the row (freivalds.hpp).  x r and gamma (or gamma w, and r at the end): 2
// roundings of each term with u; x r gamma stored, or gamma w rounded: 1 with that of the dtype.
// All errors but r's are independent of the random signs; r's is a common factor and shifts the sum by rho |sum|.
double sweep(const void* args, const Numerics& numerics, Errors errors, const Tensor& got, std::uint64_t seed) {
  const auto& a = *static_cast<const rmsnorm_gemm::Args*>(args);
  const std::int64_t hidden = a.x.shape[1], out = a.weight.shape[0];
  const DType chip = numerics.accumulate, storage = got.dtype;
  const double u = unit_roundoff(chip), features = static_cast<double>(out);
  std::vector<double> gamma(static_cast<std::size_t>(hidden)), square(static_cast<std::size_t>(got.shape[0])), row_abs(square);
  for (std::int64_t h = 0; h < hidden; ++h) gamma[static_cast<std::size_t>(h)] = a.gamma.at(h);
  double weight_sq = 0;  // sum over the features of (sum (1 + |gamma|) |w|)^2
#pragma omp parallel for schedule(static) reduction(+ : weight_sq)
  for (std::int64_t o = 0; o < out; ++o) {
    double sum = 0;
    for (std::int64_t h = 0; h < hidden; ++h)
      sum += (1 + std::fabs(gamma[static_cast<std::size_t>(h)])) *
             std::fabs(decode(a.weight.dtype, a.weight.data, o * a.weight.stride[0] + h * a.weight.stride[1]));
    weight_sq += sum * sum;
  }
  const double weight_norm = std::sqrt(weight_sq);

  const auto load = [&](std::int64_t t, std::span<double> z) {
    double squares = 0, sum_abs = 0;
    for (std::int64_t h = 0; h < hidden; ++h) {
      const double x = z[static_cast<std::size_t>(h)] = decode(a.x.dtype, a.x.data, t * a.x.stride[0] + h * a.x.stride[1]);
      squares += x * x;
      sum_abs += std::fabs(x);
    }
    const auto row = static_cast<std::size_t>(t);
    square[row] = squares / static_cast<double>(hidden);
    const double root = std::sqrt(square[row] + a.epsilon);
    row_abs[row] = sum_abs / root;
    for (std::int64_t h = 0; h < hidden; ++h) z[static_cast<std::size_t>(h)] *= gamma[static_cast<std::size_t>(h)] / root;
  };
  const auto allowed = [&](std::int64_t t, const freivalds::Norms& n, double sum) {
    const auto row = static_cast<std::size_t>(t);
    const double rho = inverse_rms_error(a, numerics, errors, square[row]);
    const auto each_term = [&](double roundings, double unit) {
      return errors == Errors::coherent ? roundings * unit * n.sum_abs : kLambda * std::sqrt(roundings * n.sum_sq) * unit;
    };
    double bound = each_term(2, u) + rounding_floor(chip) * weight_norm, grown = 1;
    for (const auto& [step, under] :
         {std::pair("n", weight_norm), std::pair("scaled_weight", std::sqrt(features) * row_abs[row])})
      if (const auto as = stored_as(numerics, step, storage)) {
        bound += each_term(1, unit_roundoff(*as)) + rounding_floor(*as) * under;
        grown += unit_roundoff(*as);
      }
    const double underflow = (static_cast<double>(hidden) + 2) * 2 * rounding_floor(chip) * std::sqrt(features);
    bound += grown * freivalds::product_error(numerics, errors, hidden, n, features);
    bound += underflow / std::sqrt(square[row] + a.epsilon);
    bound *= 1 + rho;
    bound += freivalds::rounding_error(chip, n.y, bound, features);
    return kLambda * (bound + freivalds::rounding_error(storage, n.y, bound, features)) + rho * std::fabs(sum);
  };
  return freivalds::margin(a.weight, {}, got, errors, seed, load, allowed);
}

}  // namespace

static Hooks hooks() {
  using draws::always;
  return {.fills = {{.name = "probe_signs",
                     .shows = "a wrong index, gamma or channel; exact with epsilon = 0",
                     .value = probe_signs,
                     .exact = always,
                     .exact_with = norm_fills::no_epsilon},
                    {.name = "probe_channel",
                     .shows = "r, gamma or weight of another row or channel; exact with epsilon = 0",
                     .value = probe_channel,
                     .exact = power_of_four,
                     .exact_with = norm_fills::no_epsilon,
                     .applies = power_of_four},
                    norm_fills::kLarge,
                    gemm_fills::kSpecialWeights,
                    gemm_fills::kInfiniteTails,
                    {.name = "hot_channel", .shows = "small terms lost next to one channel's", .value = hot_channel},
                    {.name = "sparse_gamma", .shows = "gamma of another channel, gamma dropped", .value = sparse_gamma},
                    {.name = "cancelling",
                     .shows = "sums or products rounded to 16 bits before the end",
                     .value = cancelling,
                     .applies = gemm_fills::several_channels}},
          .sweep = sweep};
}

static const LinkedHooks<rmsnorm_gemm> linked(hooks);

}  // namespace assay
