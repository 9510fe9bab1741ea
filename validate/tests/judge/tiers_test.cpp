// SPDX-License-Identifier: Apache-2.0
// Aggregate checks and power find the planted faults that they are made for.
#include <algorithm>
#include <cmath>

#include "catch_shim.hpp"
#include "ops/core/gemm_bound.hpp"
#include "validate/judge/aggregate.hpp"
#include "validate/judge/judge_outputs.hpp"
#include "validate/judge/power.hpp"
#include "validate/judge/prepare.hpp"
#include "validate/tasks/selection.hpp"
#include "validate/tests/fixed_problem.hpp"
#include "validate/values/random.hpp"

namespace assay {
namespace {

using test::FixedProblem;
using test::OwnedTensor;

constexpr std::int64_t kRows = 128, kCols = 96;
constexpr ByFormula (*kNone)() = [] { return ByFormula{.only_sums = true}; };

// The aggregate of normal values with a bound of 4 unit roundoffs, as `answer` gives them: most errors are far below the bound.
Aggregate judged(DType dtype, double (*answer)(DType, double), std::uint64_t seed = 1) {
  std::vector<double> golden(kRows * kCols), bounds(golden.size());
  OwnedTensor got(dtype, {kRows, kCols});
  const double u = unit_roundoff(dtype);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    golden[i] = random::normal(seed, i);
    bounds[i] = 4 * u * std::fabs(golden[i]) + rounding_floor(dtype);
    // The error of an intermediate rounding: within 1.5 u, of either sign.
    const double noise = 1.5 * u * golden[i] * (2 * random::uniform(seed + 1, i) - 1);
    got.set(static_cast<std::int64_t>(i), answer(dtype, golden[i] + noise));
  }
  FixedProblem problem(golden, bounds);
  problem.row_length = kCols;
  return aggregate(problem, kNone(), {}, got.get());
}

double nearest(DType, double v) { return v; }  // OwnedTensor rounds to nearest
double truncated(DType t, double v) {
  const double r = round_to(t, v), spacing = std::ldexp(1.0, std::ilogb(v) + 1 - info(t).format.precision);
  return std::fabs(r) > std::fabs(v) ? r - std::copysign(spacing, v) : r;
}
double downwards(DType t, double v) {
  const double r = round_to(t, v), spacing = std::ldexp(1.0, std::ilogb(v) + 1 - info(t).format.precision);
  return r > v ? r - spacing : r;
}
double scaled(DType, double v) { return v * 1.0005; }
// Adds an error of 2.4 u, of either sign.
double rough(DType t, double v) {
  return v * (1 + 2.4 * unit_roundoff(t) * random::sign(7, static_cast<std::uint64_t>(std::ilogb(v) + std::fabs(v) * 0x1p40)));
}

}  // namespace

TEST_CASE("aggregate: errors of either sign pass, errors of one sign fail though each is within its bound", "[tiers]") {
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
  CHECK(aggregate_fault(judged(bf16, scaled), 1).find("away from zero") != std::string::npos);
  CHECK(aggregate_fault(judged(bf16, nearest), 1).empty());
}

TEST_CASE("aggregate: larger errors have a larger rms, whose limit is below 1", "[tiers]") {
  const Aggregate a = judged(bf16, rough);
  CHECK(a.rms > judged(bf16, nearest).rms);
  CHECK(a.elements == kRows * kCols);
  CHECK(a.rms_limit < 1);
}

TEST_CASE("aggregate: fewer than lambda^2 rows reject nothing", "[tiers]") {
  std::vector<double> golden(30, 1.0), bounds(30, 1.0);
  OwnedTensor got(f32, {30, 1});
  for (std::int64_t i = 0; i < 30; ++i) got.set(i, 1.5);
  const FixedProblem problem(golden, bounds);
  CHECK(aggregate(problem, kNone(), {}, got.get()).within());
  static_assert(kLambda * kLambda > 30);
}

namespace {

// All rows have the same two answers, as in a norm of two columns: `low` of a spacing above 1, `high` of a spacing above 3.
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

TEST_CASE("aggregate: the rounding error of repeated answers passes, truncation of them fails", "[tiers]") {
  CHECK(of_two_answers(0.4, 0.3, nearest).within());
  CHECK(of_two_answers(0.49, 0.49, nearest).within());
  CHECK_FALSE(of_two_answers(0.9, 0.8, truncated).within());
}

TEST_CASE("aggregate: a step may err with one sign if the kernel declares its rounding", "[tiers]") {
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
  const Numerics stores{.stores = "s"};
  ByFormula formula = kNone();
  formula.steps = {{.name = "s"}};
  CHECK(aggregate(problem, formula, stores, got.get()).within());
  CHECK_FALSE(aggregate(problem, kNone(), {}, got.get()).within());
}

TEST_CASE("suspect: a dataset's case whose few outputs are small in one draw is not, one that is so in every draw is",
          "[tiers]") {
  Task task{.op = &op_named("gelu_linear"),
            .c = parse_repro("gelu_linear f16 tokens=1 hidden=24 out=1 seed=258861335", op_shapes()).what,
            .kernels = {find_kernel("gelu_linear", "naive")}};
  const auto verdict_on_zeros = [&](const std::string& source, Numerics numerics) {
    task.c.source = source;
    Kernel kernel = *task.kernels[0];
    kernel.numerics = numerics;
    const std::shared_ptr<Prepared> p = prepare(task, 0);
    std::vector<std::byte> zeros(p->packing.placements.back().bytes + 1);
    const Images images[] = {{nullptr, nullptr, nullptr, zeros.data()}};
    Record r = blank_record(task, kernel, "simt", {});
    judge_outputs(*p, kernel, {.images = images}, {}, r);
    return std::pair(r.verdict, r.reason);
  };
  const Numerics sound = task.kernels[0]->numerics;
  const std::string by_chance = "by chance every right value is a zero", dataset = "edges/gelu_linear.json";
  CHECK(verdict_on_zeros("random", sound) == std::pair(Verdict::passed, by_chance));
  CHECK(verdict_on_zeros(dataset, sound) == std::pair(Verdict::passed, by_chance));
  Numerics any = sound;
  any.function_error = 0x1p30;
  CHECK(verdict_on_zeros("random", any).first == Verdict::suspect);
  CHECK(verdict_on_zeros(dataset, any).first == Verdict::suspect);
}

TEST_CASE("power: sound bounds reject every fault; a kernel that declares too much is suspect", "[tiers]") {
  const Op& op = *find_op("linear");
  Kernel sound = *find_kernel("linear", "naive"), lax = sound;
  sound.name = "sound";
  lax.name = "lax";
  lax.numerics.factors.precision = 3;  // declares so much that its bound allows nearly everything
  Case c;
  c.op = "linear";
  c.dtype = f16;
  c.seed = 3;
  c.attributes["bias"] = 1;
  c.dims[Axis::tokens] = 33;
  c.dims[Axis::hidden] = 64;
  c.dims[Axis::out] = 35;
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

TEST_CASE("power: zeros must be wrong in most elements of most cases", "[tiers]") {
  const auto verdict_of = [](std::int64_t cases, std::int64_t loose) {
    Power power;
    Record r;
    r.c.op = "softmax";
    r.kernel = "naive";
    r.repro = "softmax/naive";
    r.compared = 100;
    for (std::int64_t k = 0; k < cases; ++k) {
      r.loose = k == 0 ? 0 : loose;  // few cases that reject zeros do not save it
      power.add(r);
    }
    return power.lines();
  };
  CHECK(verdict_of(7, 100).empty());
  REQUIRE(verdict_of(8, 100).size() == 1);
  CHECK(verdict_of(8, 100)[0].fault == "zeros");
  CHECK(verdict_of(8, 100)[0].tried == 8);
  CHECK(verdict_of(8, 100)[0].powerless());
  CHECK(verdict_of(200, 26)[0].powerless());
  CHECK(verdict_of(200, 24)[0].rejected_by == "softmax/naive");
}

TEST_CASE("power: only cases with a compared output count", "[tiers]") {
  const Op& op = *find_op("softmax");
  const Kernel& kernel = *find_kernel("softmax", "naive");
  const auto task_of = [&](std::int64_t cols, std::uint64_t seed) {
    Case c;
    c.op = "softmax";
    c.dtype = f32;
    c.fill = "normal";
    c.seed = seed;
    c.dims[Axis::rows] = 3;
    c.dims[Axis::cols] = cols;
    return Task{&op, c, {&kernel}};
  };
  const Task declined = task_of(65, 1), one_column = task_of(1, 2), taken = task_of(65, 3);
  const auto lines_with = [&](const std::vector<const Task*>& compared, bool stopped = false, bool declines = true) {
    Power power;
    std::map<const Task*, Power::Tried> tried;  // before any verdict
    for (const Task* task : {&declined, &one_column, &taken}) tried[task] = power.look(*prepare(*task, 0));
    for (const Task* task : {&declined, &one_column, &taken})
      if (std::find(compared.begin(), compared.end(), task) != compared.end()) power.compared(*task, kernel, Record{});
      else power.not_compared(task->c, kernel, tried[task][&kernel], declines);
    power.settle([&] { return stopped; });
    return power.lines();
  };
  const std::vector<PowerLine> all = lines_with({&declined, &one_column, &taken});
  REQUIRE_FALSE(all.empty());
  for (const PowerLine& line : all) CHECK(line.rejected_by.find("seed=1") != std::string::npos);
  const std::vector<PowerLine> later = lines_with({&one_column, &taken});
  REQUIRE(later.size() == all.size());
  for (const PowerLine& line : later) CHECK((line.tried == 1 && line.rejected_by.find("seed=3") != std::string::npos));
  const std::vector<PowerLine> trivial = lines_with({&one_column});  // whose outputs are 1, whatever it does
  REQUIRE(trivial.size() == all.size());
  for (const PowerLine& line : trivial) CHECK((line.tried == 0 && line.powerless()));
  CHECK(lines_with({}).empty());
  CHECK(lines_with({&one_column}, false, false).empty());
  CHECK(lines_with({&one_column, &taken}, true).empty());
}

}  // namespace assay
