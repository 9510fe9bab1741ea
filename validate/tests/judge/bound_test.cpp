// SPDX-License-Identifier: Apache-2.0
// Tests of the bounds: a pipeline with the declared roundings stays within them, one that computes a precision lower does not,
// and exact probes have representable answers.
#include <algorithm>
#include <memory>

#include "catch_shim.hpp"
#include "ops/core/stored.hpp"
#include "reference/tests/golden_testing.hpp"
#include "validate/cases/suite.hpp"
#include "validate/judge/compare.hpp"
#include "validate/problem/image.hpp"

namespace assay {
namespace {

// A case with its golden, and room for an emulated output.
struct Bench {
  Bench(const Op& op, const Case& c) : placements(place(op, c)), problem(op.make()) {
    std::vector<std::byte*> pointers;
    for (std::size_t i = 0; i < placements.size(); ++i) {
      images.emplace_back(placements[i].bytes + 1);
      fill_image(op, c, static_cast<int>(i), placements[i], images.back().data(), {});
      pointers.push_back(is_given(op.tensors[i]) ? images.back().data() : nullptr);
      if (op.tensors[i].role == Role::output) output = std::min(output, i);  // the oracle's
    }
    attach(*problem, c, placements, pointers);
    problem->set_errors(find_fill(op, c.fill).coherent ? Errors::coherent : Errors::independent);
    problem->solve();
  }
  // Judges the oracle's answer, rounded to the dtype.
  Comparison judge(const Op& op, const Numerics& numerics, Roundings roundings, bool exact) {
    Tensor y = placements[output].tensor;
    y.data = images[output].data();
    std::vector<double> values(static_cast<std::size_t>(y.size()));
    op.formula.first_by_oracle(problem->args(), numerics, roundings, values);
    for (std::size_t i = 0; i < values.size(); ++i) y.set(static_cast<std::int64_t>(i), values[i]);
    return compare(*problem, numerics, 0, y, exact);
  }
  std::vector<Placement> placements;
  std::unique_ptr<Problem> problem;
  std::vector<std::vector<std::byte>> images;
  std::size_t output = SIZE_MAX;
};

// The roundings that kernels of the op declare, with the chain of the oracle, which sums one after the other.
std::vector<Numerics> declared_by_kernels(const Op& op) {
  std::vector<Numerics> kinds;
  for (const Kernel& k : kernels()) {
    const Numerics& n = k.numerics;
    const auto same = [&](const Numerics& other) {
      return n.stores == other.stores && n.ways == other.ways && n.cancelling_gelu == other.cancelling_gelu;
    };
    if (k.op == op.name && !k.broken && std::none_of(kinds.begin(), kinds.end(), same))
      kinds.push_back(
          {.accumulate = f32, .chain = {.lanes = 1}, .stores = n.stores, .ways = n.ways, .cancelling_gelu = n.cancelling_gelu});
  }
  // Adds what only library kernels declare, which a build for the CPU does not have.
  for (std::size_t i = 0, declared = kinds.size(); i < declared; ++i) {
    Numerics n = kinds[i];
    if (n.stores.empty()) continue;
    n.stores = lists(n.stores, "p_of_dv") ? "p_of_dv,scaled_ds" : kAllSteps;
    kinds.push_back(n);
  }
  return kinds;
}

}  // namespace

TEST_CASE("declared roundings stay within the bound; one precision lower does not", "[bound]") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  for (const Op& op : ops()) {
    if (!op.formula.oracle) continue;
    for (const DType dtype : kActivationDTypes) {
      std::int64_t judged = 0, rejected = 0;
      for (const Case& drawn : test::near_cases(datasets, op.shape(), "smoke", {.seed = 77, .dtypes = {dtype}, .reduce = true})) {
        const Case c = test::fewer_rows(drawn, op.shape(), 50'000);
        if (elements(c, op.shape()) == 0 || elements(c, op.shape()) > 200'000) continue;
        const Fill& fill = find_fill(op, c.fill);
        const bool exact = fill.exact && fill.exact(c.dims, c.dtype);
        Bench bench(op, c);
        for (const Numerics& numerics : declared_by_kernels(op)) {
          const Comparison right = bench.judge(op, numerics, Roundings::declared, exact);
          if (right.wrong)
            FAIL(repro(c, op.shape()) << ": " << right.wrong << " wrong, err/bound " << right.margin << " at " << right.worst
                                      << " got " << right.got << " golden " << right.golden);
        }
        // The bound of a kernel with shorter chains must reject an accumulator of one precision lower.
        const Numerics parallel{.accumulate = f32, .chain = {.lanes = 128, .extra = 8}};
        ++judged;
        if (bench.judge(op, parallel, Roundings::one_lower, exact).wrong) ++rejected;
      }
      INFO(op.name << " " << name(dtype) << ": " << rejected << " of " << judged << " cases reject one precision lower");
      CHECK(judged > 20);
      CHECK(rejected * 2 > judged);  // more than half of the suite's cases see it, each alone
    }
  }
}

TEST_CASE("exact probes have representable answers", "[bound]") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  for (const Op& op : ops()) {
    std::int64_t probes = 0;
    for (const char* suite : {"smoke", "edges"})
      for (const Case& c : test::near_cases(datasets, op.shape(), suite, {.reduce = true})) {
        const Fill& fill = find_fill(op, c.fill);
        if (!fill.exact || !fill.exact(c.dims, c.dtype) || (fill.exact_with && !fill.exact_with(c))) continue;
        ++probes;
        Bench bench(op, c);
        const DType dtype = bench.placements[bench.output].tensor.dtype;
        for (const double v : bench.problem->golden(0))
          if (round_to(dtype, v) != v) FAIL(repro(c, op.shape()) << ": the golden " << v << " is not a " << name(dtype));
      }
    if (!op.hooks.fills.empty()) CHECK(probes > 5);
  }
}

TEST_CASE("a bound is finite, at least 0 (that of a copy), and grows with the chain", "[bound]") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  for (const Op& op : ops())
    for (const Case& drawn : test::near_cases(datasets, op.shape(), "smoke", {.reduce = true})) {
      const Case c = test::fewer_rows(drawn, op.shape(), 20'000);
      if (elements(c, op.shape()) == 0 || elements(c, op.shape()) > 100'000) continue;
      const Bench bench(op, c);
      const auto n = static_cast<std::int64_t>(bench.problem->golden(0).size());
      for (std::int64_t i = 0; i < n; i += 1 + n / 64) {
        if (!std::isfinite(bench.problem->golden(0)[static_cast<std::size_t>(i)])) continue;
        const double parallel = bench.problem->bound({.chain = {.lanes = 128, .extra = 8}}, 0, i);
        const double serial = bench.problem->bound({.chain = {.lanes = 1}}, 0, i);
        if (!(parallel >= 0) || !std::isfinite(serial))
          FAIL(repro(c, op.shape()) << " element " << i << ": " << parallel << " " << serial);
        if (elements(c, op.shape()) > 8 && c.dims[op.axes.back().axis] > 16) CHECK(parallel <= serial);
      }
    }
}

}  // namespace assay
