// SPDX-License-Identifier: Apache-2.0
// Tests the formula against values computed by hand and against finite differences of the forward pass.
#include "ops/attention_backward.hpp"

#include <omp.h>

#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "catch_shim.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

using Values = std::vector<double>;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
const double kLn3 = std::log(3.0);

struct Shape {
  std::int64_t queries, keys, heads = 1, kv_heads = 1, dim = 1, batch = 1;
  double mask = 0, scale = 1;
  std::int64_t of_queries() const { return batch * queries * heads * dim; }
  std::int64_t of_keys() const { return batch * keys * kv_heads * dim; }
};

// Indices of the tensors that are always present.
std::vector<std::size_t> always_there(const Op& op) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < op.tensors.size(); ++i)
    if (op.tensors[i].options.present_if.empty()) all.push_back(i);
  return all;
}

// Points the tensors of a problem at vectors of f64, and solves it.
std::unique_ptr<Problem> solved(std::string_view op_name, const Shape& s, std::vector<Values*> tensors,
                                std::vector<std::int64_t> sample = {}) {
  const Op& op = *find_op(op_name);
  Dims dims;
  dims[Axis::batch] = s.batch;
  dims[Axis::seq_q] = s.queries;
  dims[Axis::seq_k] = s.keys;
  dims[Axis::heads] = s.heads;
  dims[Axis::kv_heads] = s.kv_heads;
  dims[Axis::head_dim] = s.dim;
  auto problem = op.make();
  std::size_t next = 0;
  for (const std::size_t i : always_there(op)) {
    Tensor& t = *problem->tensors()[i];
    t = {.data = next < tensors.size() ? tensors[next]->data() : nullptr, .dtype = f64};
    ++next;
    t.rank = static_cast<int>(op.tensors[i].axes.size());
    std::int64_t stride = 1;
    for (int k = t.rank - 1; k >= 0; --k) {
      t.shape[k] = op.tensors[i].axes[static_cast<std::size_t>(k)].of(dims);
      t.stride[k] = stride;
      stride *= t.shape[k];
    }
  }
  problem->set_attribute("mask", s.mask);
  problem->set_attribute("scale", s.scale);
  problem->solve(std::move(sample), Need::values);
  return problem;
}
Values output(const Problem& p, int i) { return {p.golden(i).begin(), p.golden(i).end()}; }

struct Gradients {
  Values o, lse, dq, dk, dv;
};
// O and L by the formula of the forward pass, in f64.
Gradients gradients(const Shape& s, Values q, Values k, Values v, Values d_o) {
  const auto forward = solved("attention_forward", s, {&q, &k, &v});
  Gradients g{output(*forward, 0), output(*forward, 1), {}, {}, {}};
  const auto backward = solved("attention_backward", s, {&q, &k, &v, &g.o, &g.lse, &d_o});
  g.dq = output(*backward, 0);
  g.dk = output(*backward, 1);
  g.dv = output(*backward, 2);
  return g;
}

bool near(double x, double y) { return std::fabs(x - y) <= 1e-14 * std::max(1.0, std::fabs(y)); }
Values normal(std::uint64_t seed, std::int64_t n) {
  Values values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(random::normal(seed, static_cast<std::uint64_t>(i)));
  return values;
}

}  // namespace

TEST_CASE("attention_backward: matches values computed by hand", "[golden]") {
  // Scores ln 3 and 0 weigh 3/4 and 1/4; O = 1.  dO = 2: D = 2, dO V = 8 and -16, dS = 3/4 * 6 and 1/4 * -18.
  const Gradients g = gradients({.queries = 1, .keys = 2}, {1}, {kLn3, 0}, {4, -8}, {2});
  CHECK(near(g.dq[0], 4.5 * kLn3));
  CHECK((near(g.dk[0], 4.5) && near(g.dk[1], -4.5)));
  CHECK((near(g.dv[0], 1.5) && near(g.dv[1], 0.5)));
  // The same with q halved and a scale of 2: dQ doubles, dK stays.
  const Gradients scaled = gradients({.queries = 1, .keys = 2, .scale = 2}, {0.5}, {kLn3, 0}, {4, -8}, {2});
  CHECK((near(scaled.dq[0], 9 * kLn3) && near(scaled.dk[0], 4.5) && near(scaled.dv[0], 1.5)));
}

TEST_CASE("attention_backward: gradients match finite differences of the forward pass", "[golden]") {
  // Note: one thread, since waking threads costs more than these thousands of tiny problems.
  const struct OneThread {
    int before = omp_get_max_threads();
    OneThread() { omp_set_num_threads(1); }
    ~OneThread() { omp_set_num_threads(before); }
  } one_thread;
  constexpr double kStep = 1e-4;
  for (const double mask : {0.0, 1.0, 2.0})
    for (const std::int64_t queries : {3, 6}) {
      const Shape s{.queries = queries, .keys = 4, .heads = 4, .kv_heads = 2, .dim = 3, .batch = 2, .mask = mask, .scale = 0};
      Values q = normal(1, s.of_queries()), k = normal(2, s.of_keys()), v = normal(3, s.of_keys());
      const Values d_o = normal(4, s.of_queries());
      const Gradients g = gradients(s, q, k, v, d_o);
      const auto loss = [&] {
        const auto forward = solved("attention_forward", s, {&q, &k, &v});
        double sum = 0;
        for (std::size_t i = 0; i < d_o.size(); ++i) sum += d_o[i] * forward->golden(0)[i];
        return sum;
      };
      const auto compare = [&](Values& x, const Values& dx, const char* name) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double kept = x[i];
          const auto at = [&](double steps) {
            x[i] = kept + steps * kStep;
            return loss();
          };
          // A fourth-order difference: its error is O(kStep^4).
          const double slope = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * kStep);
          x[i] = kept;
          INFO(name << " " << i << " mask " << mask << ": " << dx[i] << " and " << slope);
          CHECK(std::fabs(dx[i] - slope) < 1e-10);
        }
      };
      compare(q, g.dq, "dq");
      compare(k, g.dk, "dk");
      compare(v, g.dv, "dv");
    }
}

TEST_CASE("attention_backward: hidden pairs have no gradient, whatever they hold", "[golden]") {
  // Four queries, two keys, bottom-right: the first two see nothing, the third key 0 alone.
  const Shape few{.queries = 4, .keys = 2, .mask = 1};
  const Gradients g = gradients(few, {kNaN, 1, 1, 1}, {1, 2}, {3, 4}, {1, kInf, 1, 1});
  CHECK((g.dq[0] == 0 && g.dq[1] == 0 && g.dq[2] == 0));  // one key: dS = 0
  CHECK((std::isfinite(g.dk[0]) && g.dk[0] != 0 && near(g.dk[0], -g.dk[1])));
  CHECK(near(g.dv[0] + g.dv[1], 2));
  // Top-left, three keys: NaN in the last key reaches only the last query, and through it every key.
  const Shape left{.queries = 3, .keys = 3, .mask = 2};
  const Gradients in_k = gradients(left, {1, 1, 1}, {1, 2, kNaN}, {1, 2, 3}, {1, 1, 1});
  CHECK((in_k.dq[0] == 0 && std::isfinite(in_k.dq[1]) && std::isnan(in_k.dq[2])));
  CHECK((std::isnan(in_k.dk[0]) && std::isnan(in_k.dv[2])));
  // NaN in the first dO, whose query sees key 0 only.
  const Gradients in_do = gradients(left, {1, 1, 1}, {1, 2, 3}, {1, 2, 3}, {kNaN, 1, 1});
  CHECK((std::isnan(in_do.dq[0]) && std::isfinite(in_do.dq[1]) && std::isnan(in_do.dk[0]) && std::isfinite(in_do.dk[1])));
  CHECK((std::isnan(in_do.dv[0]) && std::isfinite(in_do.dv[1])));
  // No keys, no queries.
  const Gradients none = gradients({.queries = 2, .keys = 0}, {1, 1}, {}, {}, {1, 1});
  CHECK(none.dq == Values{0, 0});
  const Gradients no_query = gradients({.queries = 0, .keys = 2}, {}, {1, 1}, {1, 1}, {});
  CHECK((no_query.dk == Values{0, 0} && no_query.dv == Values{0, 0}));
}

// The second is so large that dQ is evaluated apart from dK and dV.
TEST_CASE("attention_backward: a sample computes its queries and the keys at their positions", "[golden]") {
  const auto check = [](const Shape& s, const std::vector<std::int64_t>& sample) {
    Values q = normal(1, s.of_queries()), k = normal(2, s.of_keys()), v = normal(3, s.of_keys()), d_o = normal(4, s.of_queries());
    const auto forward = solved("attention_forward", s, {&q, &k, &v});
    Values o = output(*forward, 0), lse = output(*forward, 1);
    const auto all = solved("attention_backward", s, {&q, &k, &v, &o, &lse, &d_o});
    const auto some = solved("attention_backward", s, {&q, &k, &v, &o, &lse, &d_o}, sample);
    for (int out = 0; out < 3; ++out) {
      int answered = 0;
      for (std::size_t i = 0; i < all->golden(out).size(); ++i) {
        if (!some->rows().has(some->row_of(out, static_cast<std::int64_t>(i)))) continue;
        ++answered;
        const double right = all->golden(out)[i];
        CHECK(std::fabs(some->golden(out)[i] - right) <= 1e-13 * (1 + std::fabs(right)));
      }
      CHECK(answered >= 4);
    }
  };
  check({.queries = 6, .keys = 9, .heads = 4, .kv_heads = 2, .dim = 2, .batch = 2, .mask = 1, .scale = 0}, {0, 5, 16, 30});
  check({.queries = 300, .keys = 280, .heads = 8, .kv_heads = 2, .dim = 2, .mask = 1, .scale = 0}, {0, 5, 804, 1600, 2396});
}

TEST_CASE("attention_backward: a case gets O and L from the forward pass in every layout") {
  const Op& op = *find_op("attention_backward");
  Case c{.op = "attention_backward", .dtype = f16};
  c.dims[Axis::batch] = 1;
  c.dims[Axis::seq_q] = 5;
  c.dims[Axis::seq_k] = 4;
  c.dims[Axis::heads] = 2;
  c.dims[Axis::kv_heads] = 1;
  c.dims[Axis::head_dim] = 8;
  c.attributes["mask"] = 1;
  c.fill = "hot_keys";
  c.seed = 3;
  for (const char* layout : {"contiguous", "padded"}) {
    c.layout = layout;
    const std::vector<Placement> placements = place(op, c);
    std::vector<std::vector<std::byte>> images;
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < 6; ++i) {
      images.emplace_back(placements[i].bytes);
      fill_image(op, c, static_cast<int>(i), placements[i], images.back().data(), {});
    }
    const Op& forward_op = *find_op("attention_forward");
    const auto forward = forward_op.make();
    const std::vector<std::size_t> of_forward = always_there(forward_op);  // q, k, v, o, lse, as those of the gradients
    for (std::size_t i = 0; i < 5; ++i) {
      *forward->tensors()[of_forward[i]] = placements[i].tensor;
      forward->tensors()[of_forward[i]]->data = images[i].data();
    }
    forward->set_attribute("mask", 1);
    forward->solve({}, Need::values);
    const Tensor &o = *forward->tensors()[of_forward[3]], &lse = *forward->tensors()[of_forward[4]];
    for (std::int64_t i = 0; i < o.size(); ++i) CHECK(o.at(i) == round_to(f16, forward->golden(0)[static_cast<std::size_t>(i)]));
    for (std::int64_t i = 0; i < lse.size(); ++i)
      CHECK(lse.at(i) == round_to(f32, forward->golden(1)[static_cast<std::size_t>(i)]));
    CHECK(lse.at(0) == -kInf);
  }
}

}  // namespace assay
