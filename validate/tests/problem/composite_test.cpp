// SPDX-License-Identifier: Apache-2.0
// Ops that are made of others: their stages are what the formula says, and what a candidate has stored is what they are judged
// by.
#include "validate/problem/composite.hpp"

#include <cmath>
#include <map>
#include <string>

#include "catch_shim.hpp"
#include "validate/cases/case.hpp"
#include "validate/judge/compare.hpp"
#include "validate/problem/bounds.hpp"

namespace assay {
namespace {

// A small case of the only such op, and outputs that are its own goldens.
struct Layer {
  const Op& op = *find_op("transformer_layer");
  Case c{.op = "transformer_layer", .dtype = f32, .fill = "unit"};
  std::vector<Placement> placements;
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> images;
  std::unique_ptr<Problem> problem = op.make(), own;

  explicit Layer(double dialect, DType dtype = f32) {
    c.dtype = dtype;
    for (const auto& [axis, extent] : std::initializer_list<std::pair<Axis, std::int64_t>>{{Axis::batch, 2},
                                                                                           {Axis::seq_q, 5},
                                                                                           {Axis::hidden, 24},
                                                                                           {Axis::heads, 4},
                                                                                           {Axis::kv_heads, 2},
                                                                                           {Axis::head_dim, 16},
                                                                                           {Axis::ffn, 33}})
      c.dims[axis] = extent;
    c.attributes["dialect"] = dialect;
    placements = place(op, c);
    std::vector<std::byte*> inputs;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      memory.emplace_back(placements[i].bytes + 1);
      fill_image(op, c, static_cast<int>(i), placements[i], memory[i].data(), {});
      images.push_back(memory[i].data());
      inputs.push_back(op.tensors[i].role == Role::output ? nullptr : images.back());
    }
    attach(*problem, c, placements, inputs);
    problem->solve();
    each([&](int output, const Tensor& t) {
      for (std::int64_t e = 0; e < t.size(); ++e) t.set(e, problem->golden(output)[static_cast<std::size_t>(e)]);
    });
  }
  template <class F>
  void each(F&& f) {
    int output = 0;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      if (op.tensors[i].role != Role::output) continue;
      Tensor t = placements[i].tensor;
      t.data = images[i];
      f(output++, t);
    }
  }
  Tensor tensor(std::string_view name) {
    for (std::size_t i = 0; i < placements.size(); ++i)
      if (op.tensors[i].name == name) {
        Tensor t = placements[i].tensor;
        t.data = images[i];
        return t;
      }
    throw std::logic_error("no such tensor");
  }
  // The outputs that are found wrong, by name.
  std::string wrong() {
    const Problem& judged = judged_by(op, c, placements, images, *problem, own);
    std::string names;
    std::vector<std::string_view> outputs;
    for (const TensorSpec& t : op.tensors)
      if (t.role == Role::output) outputs.push_back(t.name);
    each([&](int output, const Tensor& t) {
      if (compare(judged, {.chain = {.lanes = 1}}, output, t, false).wrong)
        names += std::string(names.empty() ? "" : " ") + std::string(outputs[static_cast<std::size_t>(output)]);
    });
    return names;
  }
};

}  // namespace

TEST_CASE("composite: the stages one after the other are the formula", "[composite]") {
  for (const double dialect : {0.0, 1.0, 2.0}) {
    Layer layer(dialect);
    CAPTURE(dialect);
    const auto y = layer.problem->golden(0), whole = layer.problem->end_to_end();
    REQUIRE(y.size() == whole.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!(std::fabs(y[i] - whole[i]) < 1e-4)) FAIL(i << ": " << y[i] << ", by the formula " << whole[i]);
    CHECK(end_to_end_error(*layer.problem, layer.tensor("y")) < 1e-5);
    CHECK(layer.wrong().empty());
  }
}

TEST_CASE("composite: a wrong step is named, and what follows from it is judged by what it stored", "[composite]") {
  Layer layer(0);
  layer.tensor("mlp").set(77, 3.5 + layer.tensor("mlp").at(77));
  CHECK(layer.wrong() == "y mlp");  // y was not made from this mlp
  layer.tensor("y").set(77, 3.5 + layer.tensor("y").at(77));
  CHECK(layer.wrong() == "mlp");
  CHECK(end_to_end_error(*layer.problem, layer.tensor("y")) > 0.01);
  Layer keys(2);
  keys.tensor("k").set(40, keys.tensor("k").at(40) + 0.5);
  CHECK(keys.wrong().find("k") != std::string::npos);
  CHECK(keys.wrong().find("attn") == std::string::npos);
}

TEST_CASE("composite: sampled rows are judged as all are", "[composite]") {
  Layer layer(0, f16);
  const auto problem = layer.op.make();
  attach(*problem, layer.c, layer.placements, layer.images);
  problem->solve({1, 7});
  std::unique_ptr<Problem> own;
  const Problem& all = judged_by(layer.op, layer.c, layer.placements, layer.images, *layer.problem, own);
  layer.each([&](int output, const Tensor& t) {
    std::int64_t seen = 0;
    for (std::int64_t e = 0; e < t.size(); ++e) {
      if (!problem->rows().has(problem->row_of(output, e))) continue;
      ++seen;
      // A product of fewer rows adds in another order.
      const auto near = [](double a, double b) { return std::fabs(a - b) <= 1e-12 * (1 + std::fabs(b)); };
      CHECK(near(problem->golden(output)[static_cast<std::size_t>(e)], all.golden(output)[static_cast<std::size_t>(e)]));
      CHECK(near(problem->bound({}, output, e), all.bound({}, output, e)));
    }
    CHECK(seen == t.size() / 5);  // two of ten
    const SolvedElements solved(*problem, output, t.size());
    REQUIRE(solved.count() == seen);
    for (std::int64_t k = 0; k < seen; ++k) CHECK(problem->rows().has(problem->row_of(output, solved[k])));
  });
}

TEST_CASE("composite: a dialect has its own tensors", "[composite]") {
  const auto there = [](double dialect) {
    std::string names;
    Layer layer(dialect);
    for (const std::string name : {"beta1", "w_gate", "q0", "k0", "q"})
      if (layer.tensor(name).rank) names += name + " ";
    return names;
  };
  CHECK(there(0) == "w_gate q0 k0 q ");
  CHECK(there(1) == "beta1 q ");
  CHECK(there(2) == "beta1 q0 k0 q ");
}

TEST_CASE("composite: of a block the wider of heads x head_dim and ffn counts", "[composite]") {
  Case c = Layer(0).c;  // 2 x 5 tokens, 24 channels, 4 heads of 16, ffn 33
  const OpShape shape = find_op("transformer_layer")->shape();
  CHECK(elements(c, shape) == 2 * 5 * 24 * 64);
  c.dims[Axis::ffn] = 65;
  CHECK(elements(c, shape) == 2 * 5 * 24 * 65);
  c.dims[Axis::seq_q] = 0;
  CHECK(elements(c, shape) == 0);
}

}  // namespace assay
