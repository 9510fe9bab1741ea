// SPDX-License-Identifier: Apache-2.0
// Any text as a file of the datasets: a model, the common edges, an op's edges, a bench file.  What is taken is used, too: its
// suites are made.
#include <string>

#include "validate/cases/bench_file.hpp"
#include "validate/cases/case.hpp"
#include "validate/cases/datasets.hpp"
#include "validate/cases/suite.hpp"
#include "validate/tests/fuzz/fuzz.hpp"
#include "validate/tests/test_ops.hpp"

using namespace assay;
using namespace assay::fuzz;

namespace {

const Datasets& sound() {
  static const Datasets d = load_datasets(ASSAY_DATASETS_DIR);
  return d;
}

constexpr double kMostCases = 3000;  // made of one input: more would only be slow

double product(const Group& g) {
  double n = static_cast<double>(g.fills.size() * g.layouts.size());
  for (const auto& [key, values] : g.axes) n *= static_cast<double>(values.size());
  for (const auto& [key, values] : g.attributes) n *= static_cast<double>(values.size());
  return n;
}

void make(const Datasets& d, const OpShape& op, std::string_view suite) {
  for (const bool reduce : {false, true})
    for (const Case& c : cases(d, op, suite, {.seed = 7, .count = 5, .reduce = reduce})) {
      const Repro again = parse_repro(repro(c, op), test::ops());
      require(repro(again.what, op) == repro(c, op), "a case of a suite is what its repro line says");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  accepted([&] {
    for (const BenchEntry& e : parse_bench(text, "bench.json").entries)
      accepted([&] { parse_repro("some_product f16 " + e.shape + " seed=1", test::ops()); });
  });
  accepted([&] {
    for (const SuiteTable& t : parse_bench_suite(text, "suite.json"))
      for (const SuiteRow& r : t.rows) accepted([&] { parse_repro(r.op + " f16 " + r.entry.shape + " seed=1", test::ops()); });
  });
  accepted([&] {
    Datasets d = sound();
    d.models = {parse_model(text, "model", "model.json")};
    for (const OpShape& op : test::ops())
      for (const char* suite : {"models", "smoke"}) make(d, op, suite);
  });
  accepted([&] {
    Datasets d = sound();
    d.common = parse_common(text, "common.json");
    for (const OpShape& op : test::ops())
      for (const char* suite : {"sanitize", "edges", "random"}) accepted([&] { make(d, op, suite); });
  });
  accepted([&] {
    const Edges e = parse_edges(text, "op", "op.json");
    double all = 0;
    for (const Group& g : e.groups) all += product(g);
    for (const OpShape& op : test::ops())
      accepted([&] {
        Datasets d = sound();
        check(e, op);
        d.edges[std::string(op.name)] = e;
        for (const char* suite : {"sanitize", "edges", "long", "models", "random"})
          if (all <= kMostCases) accepted([&] { make(d, op, suite); });
      });
  });
  return 0;
}
