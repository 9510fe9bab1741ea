// SPDX-License-Identifier: Apache-2.0
// Cross entropy:  loss[t] = -log softmax(x[t,:])[target[t]] = log sum_v exp(x[t,v] - m_t) + (m_t - x[t,target[t]]),
//                 m_t = max_v x[t,v];  mean = (sum_t loss[t]) / tokens
//
// loss and mean are f32, whatever the dtype of x.  NaN and inf follow the formula, as in softmax.hpp: a NaN, a +inf or only -inf
// in a token's row make its loss NaN; a target whose element is -inf in a row with finite ones gives inf.  The mean is NaN or inf
// if a loss is.  A target outside 0 ... vocab - 1 is illegal; no class is ignored.  tokens = 0 is illegal: there is no mean.
#pragma once

#include "ops/core/contract.hpp"

namespace assay {

struct cross_entropy {
  struct Args {
    Tensor x;       // [tokens, vocab]
    Tensor target;  // [tokens], i32
    Tensor loss;    // [tokens], f32, written
    Tensor mean;    // [1], f32, written
  };

  static constexpr AxisUse axes[] = {{Axis::tokens, 1}, {Axis::vocab, 1}};

  template <class Visitor>
  static void bind(Args& a, Visitor&& v) {
    v.input("x", a.x, {Axis::tokens, Axis::vocab});
    v.input("target", a.target, {Axis::tokens}, {.dtype = i32, .holds = indices_of(Axis::vocab)});
    v.output("loss", a.loss, {Axis::tokens}, {.dtype = f32});
    v.output("mean", a.mean, {Axis::one}, {.dtype = f32});
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
};

}  // namespace assay
