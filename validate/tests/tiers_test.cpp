// SPDX-License-Identifier: Apache-2.0
// Aggregates, relations and power, each with the fault planted that it is there for.
#include <algorithm>
#include <cmath>

#include "catch_shim.hpp"
#include "ops/core/gemm_bound.hpp"
#include "validate/aggregate.hpp"
#include "validate/power.hpp"
#include "validate/prepare.hpp"
#include "validate/random.hpp"
#include "validate/tests/fixed_problem.hpp"

namespace assay {
namespace {

using test::FixedProblem;
using test::OwnedTensor;

constexpr std::int64_t kRows = 128, kCols = 96;
constexpr Hooks (*kNone)() = [] { return Hooks{.only_sums = true}; };

// N(0, 1) in a dtype, each within 4 unit roundoffs, given by `answer`: outputs whose errors leave the bound much room.
Aggregate judged(DType dtype, double (*answer)(DType, double), std::uint64_t seed = 1) {
  std::vector<double> golden(kRows * kCols), bounds(golden.size());
  OwnedTensor got(dtype, {kRows, kCols});
  const double u = unit_roundoff(dtype);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    golden[i] = random::normal(seed, i);
    bounds[i] = 4 * u * std::fabs(golden[i]) + rounding_floor(dtype);
    // What an intermediate rounding leaves: within 1.5 u, of either sign.
    const double noise = 1.5 * u * golden[i] * (2 * random::uniform(seed + 1, i) - 1);
    got.set(static_cast<std::int64_t>(i), answer(dtype, golden[i] + noise));
  }
  FixedProblem problem(golden, bounds);
  problem.row_length = kCols;
  return aggregate(problem, kNone(), {}, got.get());
}

double nearest(DType, double v) { return v; }  // OwnedTensor rounds
double truncated(DType t, double v) {
  const double r = round_to(t, v), spacing = std::ldexp(1.0, std::ilogb(v) + 1 - info(t).format.precision);
  return std::fabs(r) > std::fabs(v) ? r - std::copysign(spacing, v) : r;
}
double downwards(DType t, double v) {
  const double r = round_to(t, v), spacing = std::ldexp(1.0, std::ilogb(v) + 1 - info(t).format.precision);
  return r > v ? r - spacing : r;
}
double scaled(DType, double v) { return v * 1.0005; }
// As large an error as the bound allows, of either sign.
double rough(DType t, double v) {
  return v * (1 + 2.4 * unit_roundoff(t) * random::sign(7, static_cast<std::uint64_t>(std::ilogb(v) + std::fabs(v) * 0x1p40)));
}

}  // namespace

TEST_CASE("aggregate: errors of either sign pass; of one sign they do not, though each is within its bound", "[tiers]") {
  for (const DType dtype : {f16, bf16, f32})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(name(dtype), seed);
      CHECK(judged(dtype, nearest, seed).within());
      const Aggregate zero = judged(dtype, truncated, seed), down = judged(dtype, downwards, seed);
      CHECK_FALSE(zero.within());
      CHECK(zero.towards_zero);
      CHECK_FALSE(down.within());
      CHECK_FALSE(down.towards_zero);
    }
  CHECK_FALSE(judged(bf16, scaled).within());  // an eighth of bf16's unit roundoff
  CHECK(verdict_of(judged(bf16, scaled), 1).find("away from zero") != std::string::npos);
  CHECK(verdict_of(judged(bf16, nearest), 1).empty());
}

TEST_CASE("aggregate: errors larger than rounding makes them are too many together", "[tiers]") {
  const Aggregate a = judged(bf16, rough);
  CHECK(a.rms > judged(bf16, nearest).rms);
  CHECK(a.elements == kRows * kCols);
  CHECK(a.rms_limit < 1);
}

TEST_CASE("aggregate: fewer rows than the limit's deviations squared reject nothing", "[tiers]") {
  std::vector<double> golden(30, 1.0), bounds(30, 1.0);
  OwnedTensor got(f32, {30, 1});
  for (std::int64_t i = 0; i < 30; ++i) got.set(i, 1.5);
  const FixedProblem problem(golden, bounds);
  CHECK(aggregate(problem, kNone(), {}, got.get()).within());
  static_assert(kLambda * kLambda > 30);
}

namespace {

// Rows of two answers, `low` and `high` of a spacing above 1 and above 3: all rows alike, as a norm of two columns is.
Aggregate of_two_answers(double low, double high, double (*answer)(DType, double)) {
  const double spacing = 2 * unit_roundoff(bf16);
  std::vector<double> golden, bounds;
  OwnedTensor got(bf16, {kRows, 2});
  for (std::int64_t i = 0; i < 2 * kRows; ++i) {
    golden.push_back(i % 2 ? 3 + high * 2 * spacing : 1 + low * spacing);
    bounds.push_back(4 * unit_roundoff(bf16) * golden.back());
    got.set(i, answer(bf16, golden.back()));
  }
  FixedProblem problem(golden, bounds);
  problem.row_length = 2;
  return aggregate(problem, kNone(), {}, got.get());
}

}  // namespace

TEST_CASE("aggregate: answers that repeat have a rounding that repeats; a fault beside it still shows", "[tiers]") {
  CHECK(of_two_answers(0.4, 0.3, nearest).within());
  CHECK(of_two_answers(0.49, 0.49, nearest).within());
  CHECK_FALSE(of_two_answers(0.9, 0.8, truncated).within());
}

TEST_CASE("aggregate: a step that depends on a few inputs may err with a sign, where it is rounded by declaration", "[tiers]") {
  std::vector<double> golden(kRows * kCols), bounds(golden.size());
  OwnedTensor got(bf16, {kRows, kCols});
  const double u = unit_roundoff(bf16);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    golden[i] = random::normal(1, i);
    bounds[i] = 4 * u * std::fabs(golden[i]) + rounding_floor(bf16);
    got.set(static_cast<std::int64_t>(i), golden[i] * (1 + 0.5 * u));  // the step was rounded up, in every element
  }
  FixedProblem problem(golden, bounds);
  problem.row_length = kCols;
  const Hooks few{.only_sums = true, .step_of_few = true};
  const Numerics stores{.stores_intermediate = true};
  CHECK(aggregate(problem, few, stores, got.get()).within());
  CHECK_FALSE(aggregate(problem, kNone(), stores, got.get()).within());
  CHECK_FALSE(aggregate(problem, few, {}, got.get()).within());
}

namespace {

// A problem and what the oracle says of it, as a kernel's outputs.
struct Played {
  Played(const Op& o, const Case& what, const Numerics& n = {})
      : op(o), c(what), packing(pack(op, c)), inputs(packing.input_bytes) {
    for (std::size_t t = 0; t < op.tensors.size(); ++t)
      if (op.tensors[t].role != Role::output)
        fill_image(op, c, static_cast<int>(t), packing.placements[t], inputs.data() + packing.at[t], {});
    play(n);
  }
  Played(const Op& o, Related related) : op(o), c(related.c), packing(pack(op, c)), inputs(std::move(related.inputs)) {
    play({});
  }

  void play(const Numerics& numerics) {
    std::vector<std::byte*> images;
    for (std::size_t t = 0; t < op.tensors.size(); ++t)
      images.push_back(op.tensors[t].role == Role::output ? nullptr : inputs.data() + packing.at[t]);
    problem = op.make();
    attach(*problem, c, packing.placements, images);
    problem->solve();
    outputs.resize(packing.output_bytes);
    int output = 0;
    for (std::size_t t = 0; t < op.tensors.size(); ++t) {
      if (op.tensors[t].role != Role::output) continue;
      Tensor y = packing.placements[t].tensor;
      y.data = outputs.data() + packing.at[t];
      const auto golden = problem->golden(output);
      std::vector<double> values(golden.begin(), golden.end());
      if (output++ == 0) op.hooks.oracle(problem->args(), numerics, Roundings::declared, values);
      for (std::size_t i = 0; i < values.size(); ++i) y.set(static_cast<std::int64_t>(i), values[i]);
      if (output == 1) first = y;
    }
  }

  const Op& op;
  Case c;
  Packing packing;
  std::vector<std::byte> inputs, outputs;
  std::unique_ptr<Problem> problem;
  Tensor first;
};

Case small_case(const Op& op, DType dtype) {
  Case c;
  c.op = op.name, c.dtype = dtype, c.seed = 5;
  std::int64_t extent = 5;
  for (const AxisUse& use : op.axes) c.dims[use.axis] = extent++;
  if (c.dims[Axis::kv_heads]) c.dims[Axis::kv_heads] = 3, c.dims[Axis::heads] = 6;
  return c;
}

// In every dtype; where an op has windows, beside it a short one under each mask: a query's keys then depend on its place.
std::vector<Case> small_cases(const Op& op) {
  const bool windows = std::ranges::any_of(op.attributes, [](const auto& a) { return a.name == "window"; });
  std::vector<Case> cases;
  for (const DType dtype : kActivationDTypes) {
    cases.push_back(small_case(op, dtype));
    for (const double mask : {0.0, 1.0, 2.0}) {
      if (!windows) continue;
      Case c = small_case(op, dtype);
      c.attributes = {{"mask", mask}, {"window", 2.0}};
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

}  // namespace

// The only input channel is large, so that the bias is below half the spacing of most products: stored first, they swallow it.
TEST_CASE("aggregate: a bias that is lost in what was stored is no fault of who declares to store", "[tiers]") {
  const Op& op = *find_op("linear");
  Case c;
  c.op = "linear", c.dtype = bf16, c.fill = "one_outlier", c.seed = 2220605889, c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 222, c.dims[Axis::hidden] = 1, c.dims[Axis::out] = 11;
  const Numerics stores{.stores_intermediate = true};
  const Played p(op, c, stores);
  CHECK(aggregate(*p.problem, op.hooks, stores, p.first).within());
  CHECK_FALSE(aggregate(*p.problem, kNone(), stores, p.first).within());
}

TEST_CASE("relation: the oracles keep every op's, to the bit; one element that strays is found", "[tiers]") {
  Kernel promises, position_matters;
  position_matters.position_matters = true;
  std::int64_t tried = 0;
  for (const Op& op : ops()) {
    if (!op.hooks.oracle || op.hooks.relations.empty()) continue;
    for (const Case& c : small_cases(op)) {
      const Played original(op, c);
      for (const std::string& name : relations_of(op, c, Relations::all)) {
        CAPTURE(op.name, assay::name(c.dtype), c.attributes, name);
        const Relation& r = *find_relation(op, name);
        std::optional<Related> related = relate(op, c, r, original.packing, original.inputs.data());
        if (!related) continue;  // x + 64 is no value of the dtype
        ++tried;
        Played other(op, std::move(*related));
        const auto judge = [&](const Kernel& k) {
          return judge_relation(op, k, r, c, *original.problem, original.packing, original.inputs.data(), original.outputs.data(),
                                other.outputs.data());
        };
        CHECK(judge(promises) == "");
        CHECK(judge(position_matters) == "");
        // An ulp is for who promises bits, an error of a quarter for all.
        const std::int64_t last = other.first.size() - 1;
        const double right = other.first.at(last);
        other.first.set(last, right * (1 + 2 * unit_roundoff(c.dtype)));
        if (r.bits) CHECK(judge(promises).rfind("relation " + name, 0) == 0);
        other.first.set(last, right * 1.25);
        CHECK(judge(position_matters).rfind("relation " + name, 0) == 0);
      }
    }
  }
  CHECK(tried > 90);
}

TEST_CASE("relation: a run tries one on a case in four, a replay all", "[tiers]") {
  const Op& op = *find_op("linear");
  std::int64_t some = 0;
  Case c = small_case(op, f32);
  for (c.seed = 0; c.seed < 4000; ++c.seed) {
    const auto share = relations_of(op, c, Relations::share);
    REQUIRE(share.size() <= 1);
    some += static_cast<std::int64_t>(share.size());
  }
  CHECK(some > 800);
  CHECK(some < 1200);
  CHECK(relations_of(op, c, Relations::all).size() == op.hooks.relations.size());
  CHECK(relations_of(op, c, Relations::none).empty());
  c.dims[Axis::tokens] = 0;
  CHECK(relations_of(op, c, Relations::all).empty());
}

TEST_CASE("power: sound bounds reject every fault; a contract that excuses them is suspect", "[tiers]") {
  const Op& op = *find_op("linear");
  Kernel sound = *find_kernel("linear", "naive"), lax = sound;
  sound.name = "sound", lax.name = "lax";
  lax.numerics.accumulate = bf16;  // declares more than it does: nothing that it could do is wrong
  Case c;
  c.op = "linear", c.dtype = f16, c.seed = 3, c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 33, c.dims[Axis::hidden] = 64, c.dims[Axis::out] = 35;
  Power power;
  for (const char* fill : {"cancelling", "normal"}) {
    c.fill = fill;
    const Task task{&op, c, {&sound, &lax}};
    power.look(*prepare(task, 0));
  }
  std::int64_t of_sound = 0, of_lax = 0;
  for (const PowerLine& line : power.lines()) {
    CAPTURE(line.kernel, line.fault, line.tried);
    if (line.kernel == "sound") {
      ++of_sound;
      CHECK_FALSE(line.powerless());
    } else {
      of_lax += line.powerless();
    }
  }
  CHECK(of_sound == 4);  // accumulator, intermediate, output, dropped_hidden
  CHECK(of_lax >= 2);
}

}  // namespace assay
