// SPDX-License-Identifier: Apache-2.0
// Tests the steps, one after the other in f64, against values computed by hand.
#include "ops/transformer_layer.hpp"

#include <array>
#include <memory>
#include <vector>

#include "catch_shim.hpp"
#include "ops/core/activation.hpp"
#include "ops/core/dense.hpp"
#include "reference/tests/golden_testing.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/typed/op_visitors.hpp"

namespace assay {
namespace {

using Values = std::vector<double>;

struct Solved {
  std::array<Values, 12> of;  // indexed by transformer_layer::Output
  const Values& operator[](transformer_layer::Output o) const { return of[static_cast<std::size_t>(o)]; }
};

Tensor shaped(Values& v, std::initializer_list<std::int64_t> shape) { return dense(v.data(), f64, shape); }

// All tensors are f64, so nothing is rounded between two steps.
Solved solve(transformer_layer::Args a) {
  const std::int64_t b = a.x.shape[0], s = a.x.shape[1], dim = a.wq.shape[1];
  const Tensor stream = dense(nullptr, f64, {b, s, a.x.shape[2]}), queries = dense(nullptr, f64, {b, s, a.wq.shape[0], dim}),
               keys = dense(nullptr, f64, {b, s, a.wk.shape[0], dim});
  a.y = a.attn = a.h = a.norm2 = a.mlp = stream;
  a.q = a.o = queries;
  a.k = a.v = keys;
  if (a.rotates()) {
    a.q0 = queries;
    a.k0 = keys;
  }
  a.act = dense(nullptr, f64, {b, s, a.w_up.shape[0]});

  const std::unique_ptr<Problem> problem = find_op("transformer_layer")->make();
  std::vector<Tensor*> tensors;
  transformer_layer::bind(a, detail::CollectTensors(tensors));
  for (std::size_t i = 0; i < tensors.size(); ++i) *problem->tensors()[i] = *tensors[i];
  problem->set_attribute("dialect", static_cast<double>(a.dialect));
  problem->set_attribute("epsilon", a.epsilon);
  problem->set_attribute("rotary_dim", a.rotary_dim);
  REQUIRE(problem->legal());
  problem->solve({}, Need::values);
  Solved solved;
  for (int i = 0; i < 12; ++i) {
    const std::span<const double> golden = problem->golden(i);
    solved.of[static_cast<std::size_t>(i)].assign(golden.begin(), golden.end());
  }
  return solved;
}

bool near(double a, double b) { return std::fabs(a - b) < 1e-14; }

// One sequence of two channels; v = n [1 0; 0 2], the output projection swaps channels, one unit of the feed-forward block.
struct Small {
  Values x, gamma1{1, 1}, beta1{0, 0}, wq, bq, wk, bk{0, 0}, wv{1, 0, 0, 2}, bv{0, 0}, wo, bo{0, 0}, gamma2{std::sqrt(0.5), 5},
      beta2{0, 0}, w_gate{-1, 0}, w_up{3, 0}, b_up{0}, w_down{1, 2}, b_down{0, 0};
  transformer_layer::Args args(std::int64_t tokens, std::int64_t heads) {
    return {.x = shaped(x, {1, tokens, 2}),
            .gamma1 = test::vector_of(gamma1),
            .wq = shaped(wq, {heads, 2, 2}),
            .wk = shaped(wk, {1, 2, 2}),
            .wv = shaped(wv, {1, 2, 2}),
            .wo = shaped(wo, {2, heads, 2}),
            .gamma2 = test::vector_of(gamma2),
            .w_gate = shaped(w_gate, {1, 2}),
            .w_up = shaped(w_up, {1, 2}),
            .w_down = shaped(w_down, {2, 1}),
            .epsilon = 0};
  }
};

}  // namespace

TEST_CASE("transformer_layer: one token of llama by hand", "[golden]") {
  // n = x = [1 -1], whose mean square is 1; a single token attends to itself: o = v = [1 -2], attn = [-2 1], h = [-1 0];
  // its mean square is 1/2: norm2 = [-1 0]; gate 1, up -3; act = -3 silu(1), mlp = act [1 2].
  Small s{.x = {1, -1}, .wq = {5, 6, 7, 8}, .wk = {1, 2, 3, 4}, .wo = {0, 1, 1, 0}};
  const Solved g = solve(s.args(1, 1));
  using enum transformer_layer::Output;
  CHECK(g[kQ0] == Values{-1, -1});
  CHECK(g[kQ] == g[kQ0]);  // position 0
  CHECK(g[kO] == Values{1, -2});
  CHECK(g[kAttn] == Values{-2, 1});
  CHECK(g[kH] == Values{-1, 0});
  CHECK((near(g[kNorm2][0], -1) && g[kNorm2][1] == 0));
  const double act = -3 / (1 + std::exp(-1.0));
  CHECK(near(g[kAct][0], act));
  CHECK((near(g[kY][0], -1 + act) && near(g[kY][1], 2 * act)));
}

TEST_CASE("transformer_layer: a second token is rotated, sees both and shares keys with another head", "[golden]") {
  // q = k = n, n = [1 -1], [1 1]; the second is rotated by 1: its scores are 2 with itself, -2 sin 1 with the first.  The second
  // head's queries are zero, so it takes the mean.  v = [1 -2], [1 2].
  Small s{.x = {1, -1, 1, 1}, .wq = {1, 0, 0, 1, 0, 0, 0, 0}, .wk = {1, 0, 0, 1}, .wo = {0, 1, 0, 0, 1, 0, 0, 0}};
  const Solved g = solve(s.args(2, 2));
  using enum transformer_layer::Output;
  const double c = std::cos(1.0), z = std::sin(1.0), p = 1 / (1 + std::exp((-2 * z - 2) / std::sqrt(2.0)));
  CHECK((near(g[kK][2], c - z) && near(g[kK][3], c + z)));
  CHECK((g[kO][0] == 1 && g[kO][1] == -2 && g[kO][2] == 1 && g[kO][3] == -2));  // the first token sees itself only
  CHECK((near(g[kO][4], 1) && near(g[kO][5], 4 * p - 2)));
  CHECK((near(g[kO][6], 1) && near(g[kO][7], 0)));
}

TEST_CASE("transformer_layer: gpt2 and gptneox by hand", "[golden]") {
  // x = [3 1]: mean 2, deviation 1, n = [1 -1]; betas and biases are 1 where used.  gpt2: v = [1 + 4, -2], attn = [-2 + 1, 5],
  // h = [2 6], normed to [-1 1]; z = norm2 [3 0] + 2 with gamma2 = [1 1].  gptneox reads x again: norm2 = [1 -1].
  Small s{.x = {3, 1}, .wq = {0, 0, 0, 0}, .bq = {1, 2}, .wk = {0, 0, 0, 0}, .wo = {0, 1, 1, 0}};
  s.bv = {4, 0};
  s.bo = {1, 0};
  s.gamma2 = {1, 1};
  s.b_up = {2};
  s.b_down = {0, 10};
  transformer_layer::Args a = s.args(1, 1);
  a.dialect = transformer_layer::Dialect::gpt2;
  a.w_gate = {};
  a.beta1 = test::vector_of(s.beta1);
  a.beta2 = test::vector_of(s.beta2);
  a.bq = shaped(s.bq, {1, 2});
  a.bk = shaped(s.bk, {1, 2});
  a.bv = shaped(s.bv, {1, 2});
  a.bo = test::vector_of(s.bo);
  a.b_up = test::vector_of(s.b_up);
  a.b_down = test::vector_of(s.b_down);
  using enum transformer_layer::Output;
  const Solved gpt2 = solve(a);
  CHECK(gpt2[kQ] == Values{1, 2});
  CHECK(gpt2[kO] == Values{5, -2});
  CHECK(gpt2[kH] == Values{2, 6});
  CHECK(gpt2[kNorm2] == Values{-1, 1});
  const double low = activation(Activation::gelu_tanh, -1);
  CHECK((near(gpt2[kY][0], 2 + low) && near(gpt2[kY][1], 6 + 2 * low + 10)));

  a.dialect = transformer_layer::Dialect::gptneox;
  a.rotary_dim = 2;
  const Solved neox = solve(a);
  CHECK(neox[kH] == Values{2, 6});
  CHECK(neox[kNorm2] == Values{1, -1});
  const double high = activation(Activation::gelu_erf, 5);
  CHECK((near(neox[kY][0], 2 + high) && near(neox[kY][1], 6 + 2 * high + 10)));
}

}  // namespace assay
