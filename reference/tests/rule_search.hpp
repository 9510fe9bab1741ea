// SPDX-License-Identifier: Apache-2.0
// A search for the worst that an honest implementation of a rule of track.hpp does: inputs climb towards the largest error over
// bound.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "catch_shim.hpp"
#include "reference/formula/formula.hpp"
#include "reference/formula/track.hpp"

namespace assay::formula {

inline constexpr std::int64_t kPopulation = 256;
inline constexpr int kGenerations = 60;
inline constexpr double kUnit = 0x1p-24, kFunction = 4 * kUnit;  // Numerics::function_error

inline double f32_of(double v) { return static_cast<double>(static_cast<float>(v)); }

inline constexpr double kLow = 0x1p-150;                // half the least subnormal of f32
inline constexpr double kLarge = 64;                    // of a word of Numerics, so that all else is small beside it
inline constexpr double kOff = 0.999 * kLarge * kUnit;  // just within
inline constexpr double kOneApart = 3 * 0x1p22;         // numbers of f32 around it are 1 apart
inline const double kLog2OfE = f32_of(1.4426950408889634), kLogOf2 = f32_of(0.6931471805599453);

// An argument that is off by up to 1/2: what is left of a number after a large one is added and subtracted, in this order.
inline Array coarse(const Array& x) { return step("coarse", step("near", x + kOneApart) - kOneApart); }
inline double coarse(double x) { return f32_of(x + kOneApart) - kOneApart; }

// exp by exp2, whose argument is rounded.
inline double exp_by_exp2(double x) { return std::exp2(f32_of(x * kLog2OfE)); }
// log by log2, and their change of base rounded.
inline double log_by_log2(double x) { return f32_of(std::log2(x) * kLogOf2); }

// How an implementation errs where it may: a function is off by `sign` times what it may be.
struct Habit {
  double sign = 0;
  // A function's value with its own error, then rounded.
  double function(double exact) const { return f32_of(exact * (1 + sign * (kFunction - kUnit))); }
  double rounded(double exact) const { return f32_of(exact); }
};

using Inputs = std::vector<double>;
struct Rule {
  std::string name;
  std::size_t inputs = 2;  // numbers of one candidate
  double least = 1, most = 2;
  bool row = false;  // they are one row, x [candidates, terms], beside weights w [terms]
  Errors errors = Errors::independent;
  Numerics numerics{};
  std::function<Array(Formula&, const std::vector<Array>&)> write;
  std::function<double(const Inputs&, const Habit&)> honest;
};

// Weights of products, the same for all candidates.
inline double weight(std::size_t term) { return 1 + static_cast<double>(term % 5) / 8; }

// The graph of one rule: its inputs a0, a1, ... have an axis of candidates.
inline Graph graph_of(const Rule& rule) {
  Formula f;
  const auto terms = static_cast<std::int64_t>(rule.inputs);
  const Tensor column{.rank = 1, .shape = {kPopulation}, .stride = {1}};
  const Tensor rows{.rank = 2, .shape = {kPopulation, terms}, .stride = {terms, 1}},
      weights{.rank = 1, .shape = {terms}, .stride = {1}};
  if (rule.row) {
    f.declare_input("x", {"candidates", "terms"}, rows);
    f.declare_input("w", {"terms"}, weights);
  } else {
    for (std::size_t i = 0; i < rule.inputs; ++i) f.declare_input("a" + std::to_string(i), {"candidates"}, column);
  }
  f.declare_output("y", {"candidates"}, column);
  std::vector<Array> inputs;
  for (const Port& p : f.recorded().inputs) inputs.push_back(f.in(p.name));
  f.out("y", rule.write(f, inputs));
  return f.graph();
}

// The largest error over bound that the search meets.
inline double worst_of(const Rule& rule, const Graph& graph) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto drawn = [&] {  // evenly, or where only positive numbers are asked for by their exponents
    if (rule.least <= 0) return f32_of(rule.least + (rule.most - rule.least) * uniform(random));
    return f32_of(std::exp2(std::log2(rule.least) + std::log2(rule.most / rule.least) * uniform(random)));
  };
  std::vector<Inputs> candidates(kPopulation, Inputs(rule.inputs));
  for (Inputs& c : candidates)
    for (double& v : c) v = drawn();
  double worst = 0;
  for (int generation = 0; generation < kGenerations; ++generation) {
    std::vector<double> numbers(static_cast<std::size_t>(kPopulation) * rule.inputs), weights(rule.inputs);
    for (std::size_t k = 0; k < candidates.size(); ++k)
      for (std::size_t i = 0; i < rule.inputs; ++i) numbers[k * rule.inputs + i] = candidates[k][i];
    for (std::size_t i = 0; i < rule.inputs; ++i) weights[i] = weight(i);
    const auto terms = static_cast<std::int64_t>(rule.inputs);
    std::vector<Tensor> tensors;
    if (rule.row) {
      tensors.push_back({.data = numbers.data(), .dtype = f64, .rank = 2, .shape = {kPopulation, terms}, .stride = {terms, 1}});
      tensors.push_back({.data = weights.data(), .dtype = f64, .rank = 1, .shape = {terms}, .stride = {1}});
    } else {
      for (std::size_t i = 0; i < rule.inputs; ++i)
        tensors.push_back({.data = numbers.data() + i, .dtype = f64, .rank = 1, .shape = {kPopulation}, .stride = {terms}});
    }
    const Values values(graph, tensors);
    const Tracked tracked(values, {.numerics = rule.numerics, .errors = rule.errors, .storage = f16});
    const std::vector<double> exact = values.output(0), bound = tracked.output(0);
    std::vector<std::pair<double, std::size_t>> ranked;
    for (std::size_t k = 0; k < kPopulation; ++k) {
      double ratio = 0;
      for (const double sign : {-1.0, 0.0, 1.0}) {
        const double honest = rule.honest(candidates[k], {sign});
        const double off = honest == exact[k] ? 0 : std::fabs(honest - exact[k]);
        if (std::isnan(off) || std::isnan(bound[k])) ratio = kInfinity;
        if (off > 0) ratio = std::max(ratio, off / bound[k]);
      }
      ranked.emplace_back(ratio, k);
    }
    std::sort(ranked.rbegin(), ranked.rend());
    worst = std::max(worst, ranked[0].first);
    // The best eighth stay; the others are made from them: a number drawn anew, or moved a little.
    const std::vector<Inputs> before = candidates;
    constexpr std::size_t kKept = kPopulation / 8;
    for (std::size_t k = 0; k < kPopulation; ++k) {
      candidates[k] = before[ranked[k % kKept].second];
      if (k < kKept) continue;
      double& v = candidates[k][random() % rule.inputs];
      v = k % 2 ? drawn()
                : std::clamp(f32_of(v * (1 + (uniform(random) - 0.5) * std::exp2(-20 * uniform(random)))), rule.least, rule.most);
    }
  }
  return worst;
}

inline void check_rules(const std::vector<Rule>& rules, double least) {
  for (const Rule& rule : rules) {
    INFO(rule.name);
    const double worst = worst_of(rule, graph_of(rule));
    CHECK(worst <= 1);
    CHECK(worst > least);
  }
}

// a b with its rounding: the inexact argument of most rules.
inline double product(const Inputs& a, const Habit& h) { return h.rounded(a[0] * a[1]); }

}  // namespace assay::formula
