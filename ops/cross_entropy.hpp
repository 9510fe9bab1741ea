// SPDX-License-Identifier: Apache-2.0
// Cross entropy:  loss[t] = -log softmax(x[t,:])[target[t]] = log sum_v exp(x[t,v] - m_t) + (m_t - x[t,target[t]]),
//                 m_t = max_v x[t,v];  mean = (sum_t loss[t]) / tokens
//
// loss and mean are f32, whatever the dtype of x.  NaN and inf follow the formula, as in softmax.hpp: a NaN, a +inf or only -inf
// in a token's row make its loss NaN; a target whose element is -inf in a row with finite ones gives inf.  The mean is NaN or inf
// if a loss is.  A target outside 0 ... vocab - 1 is illegal; no class is ignored.  tokens = 0 is illegal: there is no mean.
#pragma once

#include <algorithm>

#include "ops/core/contract.hpp"

namespace assay {

struct cross_entropy {
  struct Args {
    Tensor x;       // [tokens, vocab]
    Tensor target;  // [tokens], i32
    Tensor loss;    // [tokens], f32, written
    Tensor mean;    // [1], f32, written
  };
  struct Golden {
    Array loss;     // [tokens]
    Array mean;     // [1]
    Array spread;   // [tokens], sum of p |x - max|, p = softmax(x)
    Array log_sum;  // [tokens], log sum exp(x - max)
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 1}, {Axis::vocab, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::vocab});
    v.input("target", a.target, {Axis::tokens}, {.dtype = i32, .index_of = Axis::vocab});
    v.output("loss", a.loss, {Axis::tokens}, {.dtype = f32});
    v.output("mean", a.mean, {Axis::one}, {.dtype = f32});
  }
  template <class Visitor>
  static void bind(Golden& g, Visitor&& v) {
    v.array("loss", g.loss, {Axis::tokens});
    v.array("mean", g.mean, {Axis::one});
    v.array("spread", g.spread, {Axis::tokens});
    v.array("log_sum", g.log_sum, {Axis::tokens});
  }

  // Reads the targets, which are in host memory.
  static Legality legal(const Args& a) { return indices_legal("target", a.target, a.x.shape[1]); }

  // Worst case, for independent and coherent errors.  u: unit roundoff of the accumulator, n: the roundings of a chain of
  // additions, f: the relative error of exp and log.
  //
  //   sum    s = sum exp(x - m) >= 1 is within a relative rho = 3u spread + f + n u + rescales (f + u), and by vocab eta where
  //          terms are subnormal (as in softmax.hpp); an exponent by one FMA adds u|m|, and 2u(|m| + spread) a rescale
  //   loss   log s is off by rho / (1 - rho), by f log s (log itself) and 2u log s (change of base); m - x by u |m - x|; their
  //          sum by u loss.  Note: a kernel that computes (m + log s) - x exceeds this: it loses u |m|, however small the loss.
  //   mean   the mean of the tokens' errors; n additions of positive terms, and the division with q roundings: (n + q) u of the
  //          mean of the computed losses.
  static double bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, int output, std::int64_t i) {
    if (output == 0) return loss_bound(a, g, numerics, errors, i);
    const std::int64_t tokens = a.x.shape[0];
    double of_losses = 0;
    for (std::int64_t t = 0; t < tokens; ++t) of_losses += loss_bound(a, g, numerics, errors, t);
    of_losses /= static_cast<double>(tokens);
    if (std::isinf(of_losses)) return of_losses;  // Note: below, 0 roundings times infinity would be NaN
    const auto n = static_cast<double>(numerics.chain.roundings(tokens) + division_roundings(tokens));
    return of_losses + compounded(kept(errors, n) * unit_roundoff(numerics.accumulate)) * (g.mean[0] + of_losses) +
           rounding_floor(numerics.accumulate);
  }

  // Reads x and the targets, writes losses and mean; 4 operations per element: maximum, difference, exp, addition.  Unfused, the
  // softmax of x is written in f32 and read, x is read three times (softmax.hpp), and the losses are read for the mean.
  static Cost cost(const Args& a) {
    const double matrix = static_cast<double>(a.x.bytes()), targets = static_cast<double>(a.target.bytes());
    const double losses = static_cast<double>(a.loss.bytes()), mean = static_cast<double>(a.mean.bytes());
    return {.flops = 4.0 * static_cast<double>(a.x.size()),
            .bytes_read = matrix + targets,
            .bytes_written = losses + mean,
            .unfused_bytes = 3 * matrix + 8.0 * static_cast<double>(a.x.size()) + targets + 2 * losses + mean};
  }

 private:
  static double loss_bound(const Args& a, const Golden& g, const Numerics& numerics, Errors errors, std::int64_t i) {
    const std::int64_t vocab = a.x.shape[1];
    const auto token = static_cast<std::size_t>(i);
    const double u = unit_roundoff(numerics.accumulate), f = numerics.function_error * 0x1p-24;
    const double floor = rounding_floor(numerics.accumulate);
    const auto n = static_cast<double>(numerics.chain.roundings(vocab));
    const double rescales = numerics.rescales.lanes ? static_cast<double>(numerics.rescales.roundings(vocab)) : 0;
    const double eta = numerics.flushes_subnormals ? floor / u : numerics.function_error * floor;
    const double rho = 3 * u * g.spread[token] + f + kept(errors, n) * u + rescales * (f + u) + static_cast<double>(vocab) * eta;
    const double loss = g.loss[token], log_sum = g.log_sum[token];
    const double max = a.x.at(i * vocab + static_cast<std::int64_t>(a.target.at(i))) + (loss - log_sum);
    const double of_sum = compounded(rho + fused_exponent_error(numerics, 1, rescales, max, g.spread[token]));
    return (of_sum + (f + 2 * u) * log_sum + u * (loss - log_sum) + u * loss) * (1 + 0x1p-10) + floor;
  }
};

}  // namespace assay
