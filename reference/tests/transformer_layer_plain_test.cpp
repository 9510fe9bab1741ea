// SPDX-License-Identifier: Apache-2.0
// Tests the steps, one after the other in f64, against the whole block written again in the plainest way: loops over f64, no code
// of reference/ or ops/.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/dense.hpp"
#include "ops/transformer_layer.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/typed/op_visitors.hpp"

namespace assay {
namespace {

using Values = std::vector<double>;
using Dialect = transformer_layer::Dialect;
using Gelu = transformer_layer::Gelu;

constexpr std::size_t kBatch = 2, kSeq = 7, kHidden = 12, kHeads = 6, kKvHeads = 2, kDim = 10, kFfn = 18;
constexpr std::size_t kTokens = kBatch * kSeq, kQ = kHeads * kDim, kK = kKvHeads * kDim;
constexpr double kEpsilon = 0.02, kBase = 700;

struct Weights {
  Values x, gamma1, beta1, wq, bq, wk, bk, wv, bv, wo, bo, gamma2, beta2, w_gate, w_up, b_up, w_down, b_down;
};
// Numbers between -1 and 1 without a pattern.
Values some(std::size_t n, double seed) {
  Values v(n);
  for (std::size_t i = 0; i < n; ++i)
    v[i] = std::sin(1.7 * static_cast<double>(i * i % 1009) + 0.3 * static_cast<double>(i) + seed);
  return v;
}
Weights weights() {
  return {some(kTokens * kHidden, 1),
          some(kHidden, 2),
          some(kHidden, 3),
          some(kQ * kHidden, 4),
          some(kQ, 5),
          some(kK * kHidden, 6),
          some(kK, 7),
          some(kK * kHidden, 8),
          some(kK, 9),
          some(kHidden * kQ, 10),
          some(kHidden, 11),
          some(kHidden, 12),
          some(kHidden, 13),
          some(kFfn * kHidden, 14),
          some(kFfn * kHidden, 15),
          some(kFfn, 16),
          some(kHidden * kFfn, 17),
          some(kHidden, 18)};
}

// The block, one function for each of its steps.
struct Plain {
  bool llama, parallel, turns, tanh_form;
  std::size_t rotary;  // number of channels that turn

  Values norm(const Values& x, const Values& gamma, const Values& beta) const {
    Values y(x.size());
    for (std::size_t t = 0; t < kTokens; ++t) {
      double mean = 0, square = 0;
      if (!llama)
        for (std::size_t c = 0; c < kHidden; ++c) mean += x[t * kHidden + c] / kHidden;
      for (std::size_t c = 0; c < kHidden; ++c) square += std::pow(x[t * kHidden + c] - mean, 2) / kHidden;
      for (std::size_t c = 0; c < kHidden; ++c)
        y[t * kHidden + c] = (x[t * kHidden + c] - mean) / std::sqrt(square + kEpsilon) * gamma[c] + (llama ? 0 : beta[c]);
    }
    return y;
  }
  Values product(const Values& x, const Values& w, const Values& bias, std::size_t in, std::size_t out) const {
    Values y(kTokens * out);
    for (std::size_t t = 0; t < kTokens; ++t)
      for (std::size_t o = 0; o < out; ++o) {
        for (std::size_t i = 0; i < in; ++i) y[t * out + o] += x[t * in + i] * w[o * in + i];
        if (!llama) y[t * out + o] += bias[o];
      }
    return y;
  }
  Values turned(const Values& x, std::size_t heads) const {
    Values y = x;
    for (std::size_t t = 0; t < kTokens; ++t)
      for (std::size_t h = 0; h < heads; ++h)
        for (std::size_t i = 0; i < rotary / 2; ++i) {
          const double position = static_cast<double>(t % kSeq),
                       exponent = 2 * static_cast<double>(i) / static_cast<double>(rotary);
          const double angle = position / std::pow(kBase, exponent);
          const std::size_t a = (t * heads + h) * kDim + i, b = a + rotary / 2;
          y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
          y[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
        }
    return y;
  }
  static Values attended(const Values& q, const Values& k, const Values& v) {
    Values o(q.size());
    for (std::size_t t = 0; t < kTokens; ++t)
      for (std::size_t h = 0; h < kHeads; ++h) {
        const std::size_t from = (t * kHeads + h) * kDim, head = h * kKvHeads / kHeads;
        const auto row = [&](std::size_t key) { return (key * kKvHeads + head) * kDim; };
        double sum = 0;
        for (std::size_t key = t / kSeq * kSeq; key <= t; ++key) {
          double score = 0;
          for (std::size_t c = 0; c < kDim; ++c) score += q[from + c] * k[row(key) + c];
          const double weight = std::exp(score / std::sqrt(static_cast<double>(kDim)));
          sum += weight;
          for (std::size_t c = 0; c < kDim; ++c) o[from + c] += weight * v[row(key) + c];
        }
        for (std::size_t c = 0; c < kDim; ++c) o[from + c] /= sum;
      }
    return o;
  }
  double gelu(double z) const {
    // Note: 1 + tanh u and 1 + erf u lose all digits where u is far below 0; these are the same numbers.
    const double pi = std::acos(-1.0), u = std::sqrt(2 / pi) * (z + 0.044715 * z * z * z);
    return tanh_form ? z / (1 + std::exp(-2 * u)) : z / 2 * std::erfc(-z / std::sqrt(2.0));
  }
  static Values sum(const Values& a, const Values& b) {
    Values y = a;
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += b[i];
    return y;
  }

  // The outputs in the order of transformer_layer::Output.
  std::array<Values, 12> forward(const Weights& w) const {
    const Values n = norm(w.x, w.gamma1, w.beta1);
    const Values q0 = product(n, w.wq, w.bq, kHidden, kQ), k0 = product(n, w.wk, w.bk, kHidden, kK);
    const Values v = product(n, w.wv, w.bv, kHidden, kK);
    const Values q = turns ? turned(q0, kHeads) : q0, k = turns ? turned(k0, kKvHeads) : k0;
    const Values o = attended(q, k, v), attn = product(o, w.wo, w.bo, kQ, kHidden), h = sum(w.x, attn);
    const Values norm2 = norm(parallel ? w.x : h, w.gamma2, w.beta2);
    Values act = product(norm2, w.w_up, w.b_up, kHidden, kFfn);
    const Values gate = product(norm2, w.w_gate, w.b_up, kHidden, kFfn);
    for (std::size_t i = 0; i < act.size(); ++i) act[i] = llama ? gate[i] / (1 + std::exp(-gate[i])) * act[i] : gelu(act[i]);
    const Values mlp = product(act, w.w_down, w.b_down, kFfn, kHidden);
    return {sum(h, mlp), q0, k0, v, q, k, o, attn, h, norm2, act, mlp};
  }
};

Tensor of_shape(Values& v, std::initializer_list<std::size_t> shape) {
  Tensor t{.data = v.data(), .dtype = f64};
  for (const std::size_t extent : shape) t.shape[t.rank++] = static_cast<std::int64_t>(extent);
  for (std::int64_t a = t.rank - 1, step = 1; a >= 0; --a) {
    t.stride[a] = step;
    step *= t.shape[a];
  }
  return t;
}

// All tensors are f64, so nothing is rounded between two steps.
std::array<Values, 12> golden_of(Weights& w, Dialect dialect, Gelu gelu, double rotary_dim) {
  transformer_layer::Args a{.x = of_shape(w.x, {kBatch, kSeq, kHidden}),
                            .gamma1 = of_shape(w.gamma1, {kHidden}),
                            .wq = of_shape(w.wq, {kHeads, kDim, kHidden}),
                            .wk = of_shape(w.wk, {kKvHeads, kDim, kHidden}),
                            .wv = of_shape(w.wv, {kKvHeads, kDim, kHidden}),
                            .wo = of_shape(w.wo, {kHidden, kHeads, kDim}),
                            .gamma2 = of_shape(w.gamma2, {kHidden}),
                            .w_up = of_shape(w.w_up, {kFfn, kHidden}),
                            .w_down = of_shape(w.w_down, {kHidden, kFfn}),
                            .dialect = dialect,
                            .gelu = gelu,
                            .epsilon = kEpsilon,
                            .base = kBase,
                            .rotary_dim = rotary_dim};
  if (dialect == Dialect::llama) {
    a.w_gate = of_shape(w.w_gate, {kFfn, kHidden});
  } else {
    a.beta1 = of_shape(w.beta1, {kHidden});
    a.beta2 = of_shape(w.beta2, {kHidden});
    a.bq = of_shape(w.bq, {kHeads, kDim});
    a.bk = of_shape(w.bk, {kKvHeads, kDim});
    a.bv = of_shape(w.bv, {kKvHeads, kDim});
    a.bo = of_shape(w.bo, {kHidden});
    a.b_up = of_shape(w.b_up, {kFfn});
    a.b_down = of_shape(w.b_down, {kHidden});
  }
  a.y = a.attn = a.h = a.norm2 = a.mlp = dense(nullptr, f64, {kBatch, kSeq, kHidden});
  a.q = a.o = dense(nullptr, f64, {kBatch, kSeq, kHeads, kDim});
  a.k = a.v = dense(nullptr, f64, {kBatch, kSeq, kKvHeads, kDim});
  if (a.rotates()) {
    a.q0 = a.q;
    a.k0 = a.k;
  }
  a.act = dense(nullptr, f64, {kBatch, kSeq, kFfn});

  const std::unique_ptr<Problem> problem = find_op("transformer_layer")->make();
  std::vector<Tensor*> tensors;
  transformer_layer::bind(a, detail::CollectTensors(tensors));
  for (std::size_t i = 0; i < tensors.size(); ++i) *problem->tensors()[i] = *tensors[i];
  problem->set_attribute("dialect", static_cast<double>(dialect));
  problem->set_attribute("gelu", static_cast<double>(gelu));
  problem->set_attribute("epsilon", kEpsilon);
  problem->set_attribute("base", kBase);
  problem->set_attribute("rotary_dim", rotary_dim);
  REQUIRE(problem->legal());
  problem->solve({}, Need::values);
  CHECK(std::ranges::equal(problem->end_to_end(), problem->golden(transformer_layer::kY)));
  std::array<Values, 12> v;
  for (int i = 0; i < 12; ++i) {
    const std::span<const double> golden = problem->golden(i);
    v[static_cast<std::size_t>(i)].assign(golden.begin(), golden.end());
  }
  return v;
}

// The largest relative difference of two vectors.
double difference(const Values& a, const Values& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::fmax(most, std::fabs(a[i] - b[i]) / std::fabs(b[i]));
  return most;
}

}  // namespace

TEST_CASE("transformer_layer: every dialect is the block written plainly", "[golden]") {
  struct Block {
    const char* name;
    Dialect dialect;
    Gelu gelu;
    double rotary_dim;
    Plain plain;
  };
  const Block blocks[] = {
      {"llama", Dialect::llama, Gelu::of_dialect, 0, {true, false, true, false, kDim}},
      {"llama, part of the head", Dialect::llama, Gelu::of_dialect, 6, {true, false, true, false, 6}},
      {"gpt2", Dialect::gpt2, Gelu::of_dialect, 0, {false, false, false, true, 0}},
      {"gpt2, erf", Dialect::gpt2, Gelu::erf, 0, {false, false, false, false, 0}},
      {"gptneox", Dialect::gptneox, Gelu::of_dialect, 0, {false, true, true, false, kDim / 8 * 2}},
      {"gptneox, tanh, part of the head", Dialect::gptneox, Gelu::tanh, 4, {false, true, true, true, 4}},
  };
  Weights w = weights();
  for (const Block& b : blocks) {
    const std::array<Values, 12> got = golden_of(w, b.dialect, b.gelu, b.rotary_dim), expected = b.plain.forward(w);
    for (const transformer_layer::Output output :
         {transformer_layer::kQ0, transformer_layer::kK0, transformer_layer::kV, transformer_layer::kQ, transformer_layer::kK,
          transformer_layer::kO, transformer_layer::kAttn, transformer_layer::kH, transformer_layer::kNorm2,
          transformer_layer::kAct, transformer_layer::kMlp, transformer_layer::kY}) {
      if (b.dialect == Dialect::gpt2 && (output == transformer_layer::kQ0 || output == transformer_layer::kK0))
        continue;  // absent
      INFO(b.name << ", output " << output);
      CHECK(difference(got[output], expected[output]) <= 1e-11);
    }
  }
}

}  // namespace assay
