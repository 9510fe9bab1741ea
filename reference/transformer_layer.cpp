// SPDX-License-Identifier: Apache-2.0
// Golden transformer block: runs the goldens of its steps in order with f64 tensors between them, so nothing is rounded.  All
// rows are computed, since attention needs the keys and values of all.
#include "ops/transformer_layer.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "ops/core/dense.hpp"
#include "ops/core/linked.hpp"
#include "reference/core/product.hpp"
#include "reference/core/steps.hpp"

namespace assay::reference {

double scratch(const attention_forward::Args&, const Rows&);

namespace {

class Block {
 public:
  Block(const transformer_layer::Args& args, transformer_layer::Golden& golden) : a(args), g(golden) {}

  void solve() {
    using enum transformer_layer::Dialect;
    const std::int64_t nq = a.wq.shape[0], nk = a.wk.shape[0], d = a.wq.shape[1];
    const bool turns = a.dialect != gpt2;
    std::vector<double> x(static_cast<std::size_t>(n * c)), normed(x.size());
    for (std::int64_t i = 0; i < n * c; ++i) x[static_cast<std::size_t>(i)] = a.x.at(i);

    norm(x, a.gamma1, a.beta1, normed);
    product(normed, a.wq, a.bq, c, turns ? g.q0 : g.q);
    product(normed, a.wk, a.bk, c, turns ? g.k0 : g.k);
    product(normed, a.wv, a.bv, c, g.v);
    if (turns) {
      rope::Args r{.q = heads(g.q0, nq), .k = heads(g.k0, nk), .q_out = heads(g.q, nq), .k_out = heads(g.k, nk)};
      r.rotary_dim = a.rotary();
      r.base = a.base;
      take(r, {g.q, g.k}, n * nq);
    }
    const Tensor lse = dense(nullptr, f32, {b, nq, s});
    take(attention_forward::Args{.q = heads(g.q, nq),
                                 .k = heads(g.k, nk),
                                 .v = heads(g.v, nk),
                                 .o = heads(g.o, nq),
                                 .lse = lse,
                                 .mask = attention_forward::Mask::causal},
         {g.o}, n * nq);
    product(g.o, a.wo, a.bo, nq * d, g.attn);
    sum(x, g.attn, g.h);
    norm(a.dialect == gptneox ? Array(x) : g.h, a.gamma2, a.beta2, g.norm2);
    if (a.dialect == llama)
      take(
          gemm_swiglu::Args{
              .x = matrix(g.norm2, c), .w_gate = weight(a.w_gate, c), .w_up = weight(a.w_up, c), .y = matrix(g.act, f)},
          {g.act}, n);
    else
      take(gelu_linear::Args{.x = matrix(g.norm2, c),
                             .weight = weight(a.w_up, c),
                             .bias = a.b_up,
                             .y = matrix(g.act, f),
                             .has_bias = true,
                             .form = a.tanh_form() ? Activation::gelu_tanh : Activation::gelu_erf},
           {g.act}, n);
    product(g.act, a.w_down, a.b_down, f, g.mlp);
    sum(g.h, g.mlp, g.y);
  }

 private:
  const transformer_layer::Args& a;
  transformer_layer::Golden& g;
  const std::int64_t b = a.x.shape[0], s = a.x.shape[1], n = b * s, c = a.x.shape[2], f = a.w_up.shape[0];
  std::deque<std::vector<double>> flat;  // contiguous copies of strided weights

  Tensor matrix(Array v, std::int64_t cols) const { return dense(v.data(), f64, {n, cols}); }
  Tensor heads(Array v, std::int64_t count) const { return dense(v.data(), f64, {b, s, count, a.wq.shape[1]}); }
  Tensor weight(const Tensor& w, std::int64_t in) {
    if (w.contiguous()) return dense(w.data, w.dtype, {w.size() / in, in});
    std::vector<double>& values = flat.emplace_back(static_cast<std::size_t>(w.size()));
    for (std::int64_t i = 0; i < w.size(); ++i) values[static_cast<std::size_t>(i)] = w.at(i);
    return dense(values.data(), f64, {w.size() / in, in});
  }
  Tensor vector(const Tensor& v) {
    if (v.rank == 0) return v;
    const Tensor m = weight(v, v.size());
    return dense(m.data, m.dtype, {v.size()});
  }

  Dims of_heads() const {
    return dims_of({{Axis::batch, b},
                    {Axis::seq_q, s},
                    {Axis::seq_k, s},
                    {Axis::heads, a.wq.shape[0]},
                    {Axis::kv_heads, a.wk.shape[0]},
                    {Axis::head_dim, a.wq.shape[1]}});
  }
  Dims of_product(std::int64_t in, std::int64_t out) const {
    return dims_of({{Axis::tokens, n}, {Axis::hidden, in}, {Axis::out, out}, {Axis::ffn, out}});
  }
  void take(const rope::Args& r, std::initializer_list<Array> to, std::int64_t rows) { solve_as<rope>(r, to, rows, of_heads()); }
  void take(const attention_forward::Args& r, std::initializer_list<Array> to, std::int64_t rows) {
    solve_as<attention_forward>(r, to, rows, of_heads());
  }
  void take(const gemm_swiglu::Args& r, std::initializer_list<Array> to, std::int64_t rows) {
    solve_as<gemm_swiglu>(r, to, rows, of_product(c, f));
  }
  void take(const gelu_linear::Args& r, std::initializer_list<Array> to, std::int64_t rows) {
    solve_as<gelu_linear>(r, to, rows, of_product(c, f));
  }
  void norm(Array x, const Tensor& gamma, const Tensor& beta, Array y) {
    const Dims dims = dims_of({{Axis::rows, n}, {Axis::cols, c}});
    if (a.dialect == transformer_layer::Dialect::llama)
      solve_as<rmsnorm>({.x = matrix(x, c), .gamma = gamma, .y = matrix(y, c), .epsilon = a.epsilon}, {y}, n, dims);
    else
      solve_as<layernorm>({.x = matrix(x, c), .gamma = gamma, .beta = beta, .y = matrix(y, c), .epsilon = a.epsilon}, {y}, n,
                          dims);
  }
  void product(Array x, const Tensor& w, const Tensor& bias, std::int64_t in, Array y) {
    const std::int64_t out = w.size() / in;
    solve_as<linear>(
        {.x = matrix(x, in), .weight = weight(w, in), .bias = vector(bias), .y = matrix(y, out), .has_bias = bias.rank != 0}, {y},
        n, of_product(in, out));
  }
  void sum(Array x, Array y, Array to) {
    solve_as<add>({.a = matrix(x, c), .b = matrix(y, c), .y = matrix(to, c)}, {to}, n,
                  dims_of({{Axis::rows, n}, {Axis::cols, c}}));
  }
};

}  // namespace

void golden(const transformer_layer::Args& a, transformer_layer::Golden& g, const Rows& /*all are computed*/) {
  Block(a, g).solve();
}

namespace {

// Counts the values of a step's golden.
struct Counted {
  const Dims& dims;
  double values = 0;
  void array(std::string_view, const Array&, AxisList axes) {
    double n = 1;
    for (const Extent& e : axes) n *= static_cast<double>(e.of(dims));
    values += n;
  }
};
template <class Op>
double arrays_of(const Dims& dims) {
  Counted counted{dims};
  typename Op::Golden golden_of_step;
  Op::bind(golden_of_step, counted);
  return bytes_of(counted.values);
}

}  // namespace

// The stream before and after a norm, copies of strided weights, and the golden of one step at a time.
double scratch(const transformer_layer::Args& a, const Rows&) {
  const std::int64_t b = a.x.shape[0], s = a.x.shape[1], n = b * s, c = a.x.shape[2], f = a.w_up.shape[0];
  const std::int64_t nq = a.wq.shape[0], nk = a.wk.shape[0], d = a.wq.shape[1];
  const Rows tokens{.total = n}, queries{.total = n * nq};
  const bool llama = a.dialect == transformer_layer::Dialect::llama;
  const auto product = [&](std::int64_t in, std::int64_t out) {
    return arrays_of<linear>(dims_of({{Axis::tokens, n}, {Axis::hidden, in}, {Axis::out, out}})) +
           scratch_of_products(tokens, in, out, 1);
  };
  const Dims heads = dims_of(
      {{Axis::batch, b}, {Axis::seq_q, s}, {Axis::seq_k, s}, {Axis::heads, nq}, {Axis::kv_heads, nk}, {Axis::head_dim, d}});
  const Dims inner = dims_of({{Axis::tokens, n}, {Axis::hidden, c}, {Axis::out, f}, {Axis::ffn, f}});
  const auto of_heads = [&](std::int64_t count) { return dense(nullptr, f64, {b, s, count, d}); };
  attention_forward::Args attention{.q = of_heads(nq), .k = of_heads(nk), .v = of_heads(nk), .o = of_heads(nq), .lse = {}};
  attention.mask = attention_forward::Mask::causal;
  const double steps[] = {
      product(c, nq * d),
      product(nq * d, c),
      product(f, c),
      arrays_of<rope>(heads),
      arrays_of<attention_forward>(heads) + scratch(attention, queries),
      (llama ? arrays_of<gemm_swiglu>(inner) : arrays_of<gelu_linear>(inner)) + scratch_of_products(tokens, c, f, llama ? 2 : 1)};
  double strided = 0;
  for (const Tensor* w : {&a.wq, &a.wk, &a.wv, &a.wo, &a.w_gate, &a.w_up, &a.w_down})
    if (w->rank > 0 && !w->contiguous()) strided += static_cast<double>(w->size());
  return bytes_of(2 * static_cast<double>(n * c) + strided) + *std::max_element(std::begin(steps), std::end(steps));
}

static const LinkedGolden<transformer_layer> linked_transformer_layer(golden, scratch);

}  // namespace assay::reference
