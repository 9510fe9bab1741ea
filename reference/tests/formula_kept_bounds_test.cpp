// SPDX-License-Identifier: Apache-2.0
// Tests that bounds are what they were: for small graphs with nearly every kind of node, under each word of numerics that they
// read, the mean of their logarithms is kept in datasets/bounds.json.  A rule that changes, even by a constant, changes some of
// these numbers.  Whoever means to change one derives it beside the rule, and writes the file anew: build/bin/assay_tests
// '[.keep]'.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "catch_shim.hpp"
#include "reference/formula/answers.hpp"
#include "reference/formula/evaluate.hpp"
#include "reference/formula/formula.hpp"

namespace assay::formula {
namespace {

constexpr std::int64_t kRows = 3, kTerms = 37, kColumns = 48;
const Axis rows("rows"), terms("terms"), columns("columns");

// Inputs: x and z [rows, terms], w and b [terms], m [terms, columns].  Outputs: y [rows, terms], of_rows [rows], of_columns
// [rows, columns].
struct Written {
  const char* name;
  std::vector<std::string> outputs;
  void (*write)(Formula&);
  bool wide = false;  // sums: with long and short chains
};

Array inexact(Formula& f) { return f.in("x") * f.in("w"); }
Array normed(Formula& f, double epsilon) {
  const Array x = f.in("x"), centred = x - mean(terms)(x);
  return step("normed", centred * rsqrt(mean(terms)(square(centred)) + epsilon));
}

const Written kWritten[] = {
    {"arithmetic",
     {"y"},
     [](Formula& f) {
       const Array p = inexact(f), q = f.in("z") + f.in("b");
       f.out("y", -(p * q) + square(p - q) / (absolute(q) + 3) + step("every", p * 0.3) + p / 4);
     }},
    {"stored sum", {"y"}, [](Formula& f) { f.out("y", step("t", step("s", inexact(f)) + f.in("b")) * f.in("z")); }},
    {"choices",
     {"y"},
     [](Formula& f) {
       const Array p = inexact(f), q = f.in("z") * f.in("b");
       f.out("y", where(p < q, maximum(p, q), minimum(p, 0.1)) + where(f.index(terms) <= 3, q, 0));
     }},
    {"rounded", {"y"}, [](Formula& f) { f.out("y", rounded_to(bf16, f.in("x") + f.in("z")) * f.in("w")); }},
    {"biased sums",
     {"of_rows"},
     [](Formula& f) {
       const Array bias = max(terms)(f.in("x"));
       f.out("of_rows", step("s", sum(terms)(inexact(f))) + bias - sum(terms)(f.in("x") * f.in("w")));
     }},
    {"largest", {"of_rows"}, [](Formula& f) { f.out("of_rows", max(terms)(inexact(f))); }},
    {"exp and log",
     {"y"},
     [](Formula& f) { f.out("y", exp(inexact(f) * 0.01) + 0.001 * log(square(f.in("z") * f.in("w")) + 0x1p-100)); }},
    {"exp", {"y"}, [](Formula& f) { f.out("y", exp(inexact(f))); }},
    {"tanh", {"y"}, [](Formula& f) { f.out("y", tanh(inexact(f))); }},
    {"erf", {"y"}, [](Formula& f) { f.out("y", erf(inexact(f))); }},
    {"sigmoid", {"y"}, [](Formula& f) { f.out("y", sigmoid(inexact(f))); }},
    {"softplus", {"y"}, [](Formula& f) { f.out("y", softplus(inexact(f))); }},
    {"silu", {"y"}, [](Formula& f) { f.out("y", silu(inexact(f))); }},
    {"gelu", {"y"}, [](Formula& f) { f.out("y", gelu_erf(inexact(f)) * gelu_tanh(f.in("z") * f.in("b"))); }},
    {"roots", {"y"}, [](Formula& f) { f.out("y", sqrt(square(inexact(f)) + 1e-6) * rsqrt(square(f.in("z")) + 0.5)); }},
    {"turned",
     {"y"},
     [](Formula& f) {
       const Array position = 100 * f.index(terms) + f.index(rows);
       f.out("y", f.in("x") * cos_turn(position, f.index(terms), 64, 1e4) - f.in("z") * sin_turn(position, f.in("b")));
     }},
    {"taken",
     {"y"},
     [](Formula& f) {
       const Array place = f.index(terms) - 5 * quotient(f.index(terms), 5);
       f.out("y", take(step("rotated", inexact(f)), terms, place) * f.in("z"));
     }},
    {"exponent of a difference", {"y"}, [](Formula& f) { f.out("y", exp(f.in("x") - f.in("b"))); }},
    {"narrowed", {"y"}, [](Formula& f) { f.out("y", step("ds", step("p", inexact(f)) * f.in("z"))); }},
    {"narrowed at a scale", {"y"}, [](Formula& f) { f.out("y", step("scaled_ds", inexact(f) * 0.25) * f.in("z")); }},
    {"two ways",
     {"y"},
     [](Formula& f) {
       const Array scaled = step("scaled", f.in("w") * f.in("b"));
       f.out("y", either(inexact(f) * f.in("b"), f.in("x") * scaled, "folded"));
     }},
    {"hidden factor",
     {"of_columns"},
     [](Formula& f) { f.out("of_columns", sum(terms)(where(f.index(terms) < 5, inexact(f), 0) * f.in("m"))); },
     true},
    {"put",
     {"y"},
     [](Formula& f) {
       const Axis places("places");
       f.index(places, kTerms);
       const Array turned = put(inexact(f), places, kTerms - 3.0 - f.index(terms));
       f.out("y", take(turned, places, f.index(terms)) * f.in("w"));
     }},
    {"sum", {"of_rows"}, [](Formula& f) { f.out("of_rows", sum(terms)(inexact(f) + f.in("z"))); }, true},
    {"sum of one sign", {"of_rows"}, [](Formula& f) { f.out("of_rows", sum(terms)(absolute(f.in("x")))); }, true},
    {"mean of squares",
     {"y"},
     [](Formula& f) { f.out("y", f.in("x") * rsqrt(mean(terms)(square(f.in("x"))) + 1e-6) * f.in("w")); },
     true},
    {"deviation", {"y"}, [](Formula& f) { f.out("y", normed(f, 1e-5)); }, true},
    {"deviation of coarse terms",
     {"of_rows"},
     [](Formula& f) {
       const Array x = f.in("x") * f.in("w") + 100, centred = x - mean(terms)(x);
       f.out("of_rows", rsqrt(mean(terms)(square(centred)) + 1e-12));
     },
     true},
    {"norm with affine", {"y"}, [](Formula& f) { f.out("y", normed(f, 1e-5) * f.in("w") + f.in("b")); }, true},
    {"product", {"of_columns"}, [](Formula& f) { f.out("of_columns", sum(terms)(f.in("x") * f.in("m"))); }, true},
    {"product of computed",
     {"of_columns"},
     [](Formula& f) { f.out("of_columns", sum(terms)((inexact(f) + 1) * (f.in("m") * f.in("b")))); },
     true},
    {"product of normed", {"of_columns"}, [](Formula& f) { f.out("of_columns", sum(terms)(normed(f, 1e-5) * f.in("m"))); }, true},
    {"softmax", {"y"}, [](Formula& f) { f.out("y", softmax(terms)(inexact(f))); }, true},
    {"softmax of exact",
     {"y"},
     [](Formula& f) { f.out("y", softmax(terms)(where(f.index(terms) < 30, f.in("x"), -INFINITY))); },
     true},
    {"logsumexp", {"of_rows"}, [](Formula& f) { f.out("of_rows", logsumexp(terms)(inexact(f) + f.in("z"))); }, true},
    {"log_softmax", {"y"}, [](Formula& f) { f.out("y", log_softmax(terms)(inexact(f))); }, true},
    {"mean by weights",
     {"of_columns"},
     [](Formula& f) {
       const Array masked = where(f.index(terms) <= 11 * f.index(rows), inexact(f), -INFINITY);
       f.out("of_columns", sum(terms)(softmax_or_zero(terms)(masked) * f.in("m")));
     },
     true},
    {"mean by weights, and its sum",
     {"of_rows", "of_columns"},
     [](Formula& f) {
       f.out("of_columns", sum(terms)(softmax(terms)(inexact(f)) * (f.in("m") * f.in("b"))));
       f.out("of_rows", logsumexp(terms)(inexact(f)));
     },
     true},
    {"mean by wild weights",
     {"of_columns"},
     [](Formula& f) { f.out("of_columns", sum(terms)(softmax(terms)(inexact(f) * 0x1p33) * (f.in("m") * f.in("b")))); },
     true},
    {"mean of far values",
     {"of_columns"},
     [](Formula& f) {
       const Array is_near = f.index(terms) < 20;
       f.out("of_columns", sum(terms)(softmax(terms)(where(is_near, f.in("x"), -1000)) * where(is_near, f.in("m"), 0x1p120)));
     },
     true},
    {"mean of tiny values",
     {"of_columns"},
     [](Formula& f) { f.out("of_columns", sum(terms)(softmax(terms)(inexact(f)) * (f.in("m") * 0x1p-125))); },
     true},
    {"softmax of coarse ties",
     {"y"},
     [](Formula& f) { f.out("y", softmax(terms)(minimum((inexact(f) + 3 * 0x1p22) - 3 * 0x1p22, 1))); },
     true},
    {"variance",
     {"of_rows"},
     [](Formula& f) {
       const Array x = f.in("x"), centred = x - mean(terms)(x);
       f.out("of_rows", mean(terms)(square(centred)));
     },
     true},
    {"root of small squares",
     {"of_rows"},
     [](Formula& f) { f.out("of_rows", rsqrt(mean(terms)(square(f.in("x") * 0x1p-60)) + 0x1p-126)); },
     true},
    {"sum of sums",
     {"of_rows"},
     [](Formula& f) { f.out("of_rows", sum(columns)(sum(terms)(where(f.index(terms) < 1, inexact(f) * f.in("m"), 0)))); },
     true},
    {"sum of products", {"of_rows"}, [](Formula& f) { f.out("of_rows", sum(columns)(sum(terms)(f.in("x") * f.in("m")))); }, true},
    {"recurrence", {"y"}, [](Formula& f) {
       const Stepped all = f.scan(terms, {0.0}, [&](std::span<const Array> before) -> Stepped {
         const Array h = f.in("w") * before[0] + f.in("x");
         return {.states = {h}, .outputs = {h * f.in("z")}};
       });
       f.out("y", all.outputs[0]);
     }}};

// Numbers that cover an interval evenly, in any order (multiples of the golden ratio).
double even(std::size_t i, std::size_t seed) {
  const double turn = std::fmod(0.6180339887498949 * static_cast<double>(i + 1) + 0.37 * static_cast<double>(seed), 1.0);
  return 2 * turn - 1;
}

struct Filled {
  DType storage;
  const char* name;
  double scale;
};
// Of sizes at which roundings, subnormal results or large exponents count.
const Filled kFilled[] = {
    {f32, "unit", 1.7}, {f32, "tiny", 0x1p-140}, {f32, "large", 40}, {f16, "unit", 1.7}, {f16, "tiny", 0x1p-20}};

struct Said {
  const char* name;
  Numerics numerics;
  bool of_sums = false;  // for graphs with sums only
};
constexpr std::string_view kStored = "s,t,normed,p,ds,weights";
const Said kSaid[] = {{"f32", {}},
                      {"lanes", {.chain = {4, 2}}, true},
                      {"many lanes", {.chain = {32, 0}}, true},
                      {"f16", {.accumulate = f16}},
                      {"f16, flushed", {.accumulate = f16, .flushes_subnormals = true}, true},
                      {"bf16", {.accumulate = bf16}},
                      {"bf16, lanes", {.accumulate = bf16, .chain = {4, 2}, .rescales = {4, 1}}, true},
                      {"tf32", {.factors = {.precision = 11}}},
                      {"bf16, tf32", {.accumulate = bf16, .factors = {.precision = 11}}},
                      {"mma", {.mma_terms = 8}},
                      {"stored", {.stores = kStored}},
                      {"stored, bf16", {.accumulate = bf16, .stores = kStored}},
                      {"every step stored", {.stores = "all"}},
                      {"exps stored", {.stores = "exps,p,ds"}},
                      {"cancelling", {.cancelling_gelu = true, .tanh_sigmoid = true}},
                      {"functions", {.function_error = 64}},
                      {"exponents", {.exponent_error = 64}},
                      {"quotients", {.quotient_error = 64}},
                      {"roots", {.root_error = 64}},
                      {"rotated stored", {.stores = "rotated"}},
                      {"gradients stored", {.stores = "p,scaled_ds"}},
                      {"another way", {.stores = "scaled", .ways = "folded"}},
                      {"bf16 in two pieces", {.factors = {.precision = 8, .pieces = 2, .products = 3}}},
                      {"angles", {.angle_error = 64}},
                      {"reduced angles", {.reduced_angle_error = 64}},
                      {"fused exponent", {.fused_exponent = true}},
                      {"folded affine", {.folded_affine = true}},
                      {"running moments", {.running_moments = true}},
                      {"flushed", {.flushes_subnormals = true}},
                      {"flushed in memory", {.flushes_storage = true}},
                      {"rescaled", {.rescales = {1, 0}}},
                      {"rescaled, fused", {.fused_exponent = true, .rescales = {1, 0}}}};

struct Tensors {
  std::vector<std::vector<double>> numbers;
  std::vector<Tensor> tensors;
  void add(const Filled& fill, std::vector<std::int64_t> shape, double scale) {
    const std::size_t seed = numbers.size();
    std::size_t n = 1;
    for (const std::int64_t extent : shape) n *= static_cast<std::size_t>(extent);
    std::vector<double>& list = numbers.emplace_back();
    for (std::size_t i = 0; i < n; ++i) list.push_back(round_to(fill.storage, scale * even(i, seed)));
    Tensor t{.dtype = f64, .rank = static_cast<int>(shape.size())};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      t.shape[d] = shape[d];
      t.stride[d] = d + 1 < shape.size() ? shape[d + 1] : 1;
    }
    tensors.push_back(t);
  }
};

struct Graphed {
  Graph graph;
  Tensors inputs;
};

Graphed graph_of(const Written& written, const Filled& fill) {
  Graphed g;
  const std::pair<const char*, std::vector<std::string>> tensors[] = {
      {"x", {"rows", "terms"}}, {"z", {"rows", "terms"}}, {"w", {"terms"}}, {"b", {"terms"}}, {"m", {"terms", "columns"}}};
  const auto extent = [](const std::string& axis) { return axis == "rows" ? kRows : axis == "terms" ? kTerms : kColumns; };
  Formula f;
  for (const auto& [name, axes] : tensors) {
    std::vector<std::int64_t> shape;
    for (const std::string& axis : axes) shape.push_back(extent(axis));
    // Only x and z have the size of the fill, as a product of two that are tiny is 0.
    g.inputs.add(fill, shape, axes[0] == "rows" ? fill.scale : 1.3);
    f.declare_input(name, axes, g.inputs.tensors.back());
  }
  for (std::size_t i = 0; i < g.inputs.tensors.size(); ++i) g.inputs.tensors[i].data = g.inputs.numbers[i].data();
  for (const std::string& name : written.outputs) {
    std::vector<std::string> axes = {"rows"};
    if (name != "of_rows") axes.emplace_back(name == "y" ? "terms" : "columns");
    Tensor t{.dtype = f64, .rank = static_cast<int>(axes.size())};
    for (std::size_t d = 0; d < axes.size(); ++d) t.shape[d] = extent(axes[d]);
    f.declare_output(name, axes, t);
  }
  written.write(f);
  g.graph = f.graph();
  return g;
}

// The mean of the logarithms of all bounds that are finite, and how many are infinite or 0.
nlohmann::json digest(const std::vector<double>& errors) {
  double sum = 0;
  int finite = 0, infinite = 0, exact = 0;
  for (const double error : errors)
    if (!(error < kInfinity)) ++infinite;
    else if (error == 0) ++exact;
    else {
      sum += std::log2(error);
      ++finite;
    }
  return {finite ? std::round(sum / finite * 1e7) / 1e7 : 0, infinite, exact};
}

// By graph, fill and numerics.
std::map<std::string, nlohmann::json> all_bounds() {
  std::map<std::string, nlohmann::json> all;
  for (const Written& written : kWritten)
    for (const Filled& fill : kFilled) {
      const Graphed g = graph_of(written, fill);
      const Values values(g.graph, g.inputs.tensors);
      for (const Said& said : kSaid) {
        if (!has_rules(g.graph, said.numerics) || (said.of_sums && !written.wide)) continue;
        const bool is_read = words_read(g.graph, fill.storage, said.numerics) != words_read(g.graph, fill.storage, {});
        if (&said != kSaid && !is_read) continue;
        for (const Errors errors : {Errors::independent, Errors::coherent, Errors::typical}) {
          if (errors != Errors::independent && !written.wide) continue;
          const Tracked tracked(values, {.numerics = said.numerics, .errors = errors, .storage = fill.storage});
          std::vector<double> found;
          for (std::size_t o = 0; o < g.graph.outputs.size(); ++o) {
            const std::vector<double> part = tracked.output(o);
            found.insert(found.end(), part.begin(), part.end());
          }
          constexpr const char* kErrors[] = {"", ", coherent", ", typical"};
          all[std::string(written.name) + ", " + std::string(name(fill.storage)) + " " + fill.name]
             [std::string(said.name) + kErrors[static_cast<std::size_t>(errors)]] = digest(found);
        }
      }
    }
  return all;
}

const std::filesystem::path kFile = std::filesystem::path(ASSAY_DATASETS_DIR) / "bounds.json";

}  // namespace

TEST_CASE("formula rules: bounds are those that are kept", "[formula][rules][kept]") {
  std::ifstream file(kFile);
  REQUIRE(file);
  const auto kept = nlohmann::json::parse(file);
  const std::map<std::string, nlohmann::json> all = all_bounds();
  CHECK(kept.size() == all.size());
  for (const auto& [graph, bounds] : all) {
    INFO(graph);
    REQUIRE(kept.contains(graph));
    CHECK(kept[graph].size() == bounds.size());
    for (const auto& [numerics, now] : bounds.items()) {
      INFO(numerics);
      REQUIRE(kept[graph].contains(numerics));
      const nlohmann::json& then = kept[graph][numerics];
      CHECK(std::fabs(now[0].get<double>() - then[0].get<double>()) < 1e-6);
      CHECK((now[1] == then[1] && now[2] == then[2]));
    }
  }
}

TEST_CASE("formula rules: keeps the bounds as they are now", "[.keep]") {
  std::ofstream file(kFile);
  file << "{\n";
  const std::map<std::string, nlohmann::json> all = all_bounds();
  std::size_t left = all.size();
  for (const auto& [graph, bounds] : all)
    file << " " << nlohmann::json(graph).dump() << ": " << bounds.dump() << (--left ? ",\n" : "\n");
  file << "}\n";
  REQUIRE(file.flush());
}

}  // namespace assay::formula
