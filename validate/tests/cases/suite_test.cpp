// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/suite.hpp"

#include <set>

#include "catch_shim.hpp"
#include "validate/base/error.hpp"
#include "validate/cases/coverage.hpp"
#include "validate/problem/op.hpp"
#include "validate/tests/test_ops.hpp"
#include "validate/values/layout.hpp"

#ifndef ASSAY_DATASETS_DIR
#define ASSAY_DATASETS_DIR "datasets"
#endif

using namespace assay;

namespace {

const Datasets& datasets() {
  static const Datasets d = load_datasets(ASSAY_DATASETS_DIR);
  return d;
}
const OpShape& layernorm() { return test::ops()[0]; }

std::vector<std::string> texts(const std::vector<Case>& list, const OpShape& op) {
  std::vector<std::string> out;
  for (const Case& c : list) out.push_back(repro(c, op));
  return out;
}
std::int64_t total(const std::vector<Case>& list, const OpShape& op) {
  std::int64_t n = 0;
  for (const Case& c : list) n += elements(c, op);
  return n;
}

}  // namespace

TEST_CASE("suite: every file is good for the ops it names") {
  std::vector<OpShape> all;
  for (const Op& op : ops()) all.push_back(op.shape());
  CHECK_NOTHROW(check(datasets(), all));
  CHECK(datasets().models.size() >= 19);
  for (const Model& m : datasets().models) {
    INFO(m.stem);
    CHECK_FALSE(m.source.empty());
    CHECK(m.rotary_dim % 2 == 0);
  }
  const std::vector<OpShape> others{test::ops()[1]};
  CHECK_THROWS_AS(check(datasets(), others), BadInput);
}

TEST_CASE("suite: every case of every suite round-trips, is unique, and stays the same") {
  for (const OpShape& op : test::ops())
    for (const std::string_view suite : suite_names()) {
      INFO(op.name << " " << suite);
      const std::vector<Case> list = cases(datasets(), op, suite);
      if (suite != "long" && suite != "errors") CHECK_FALSE(list.empty());
      const std::vector<std::string> lines = texts(list, op);
      CHECK(lines == texts(cases(datasets(), op, suite), op));
      std::set<std::string> unique;
      for (const std::string& line : lines) {
        const Repro r = parse_repro(line, test::ops());
        CHECK(repro(r.what, op) == line);
        CHECK(unique.insert(line.substr(0, line.find(" seed="))).second);
      }
      for (const Case& c : list) {
        CHECK_FALSE(c.source.empty());
        CHECK(applies(*find_layout(c.layout), c.dtype));
      }
    }
}

TEST_CASE("suite: seeds follow the suite's seed and the text, not the place in the list") {
  const auto all = cases(datasets(), layernorm(), "edges");
  const auto half = cases(datasets(), layernorm(), "edges", {.dtypes = {bf16}});
  const auto lines = texts(all, layernorm());
  const std::set<std::string> known(lines.begin(), lines.end());
  for (const std::string& line : texts(half, layernorm())) CHECK(known.contains(line));
  const auto other = cases(datasets(), layernorm(), "edges", {.seed = 1});
  REQUIRE(other.size() == all.size());
  int same = 0;
  for (std::size_t i = 0; i < all.size(); ++i) same += other[i].seed == all[i].seed;
  CHECK(same == 0);
  CHECK(texts(cases(datasets(), layernorm(), "random", {.seed = 1}), layernorm()) !=
        texts(cases(datasets(), layernorm(), "random"), layernorm()));
}

TEST_CASE("suite: first is a sixth of smoke, with more pairs of settings than any other sixth by its order") {
  for (const OpShape& op : test::ops()) {
    INFO(op.name);
    const std::vector<Case> smoke = cases(datasets(), op, "smoke"), first = cases(datasets(), op, "first");
    CHECK(first.size() == std::max<std::size_t>(12, smoke.size() / 6));
    const std::vector<std::string> all = texts(smoke, op), some = texts(first, op);
    std::size_t at = 0;  // the cases are those of smoke, in its order
    for (const std::string& line : some) {
      while (at < all.size() && all[at] != line) ++at;
      CHECK(at < all.size());
    }
    const auto pairs = [&](const std::vector<Case>& list) {
      Combinations found(2);
      for (const Case& c : list) found.add(settings(c, op));
      return found.size();
    };
    CHECK(2 * pairs(first) >= pairs(smoke));
    for (std::size_t begin = 0; begin + first.size() <= smoke.size(); begin += first.size())
      CHECK(pairs({smoke.begin() + static_cast<std::ptrdiff_t>(begin),
                   smoke.begin() + static_cast<std::ptrdiff_t>(begin + first.size())}) < pairs(first));
    std::vector<std::string> of_f32;
    for (const Case& c : first)
      if (c.dtype == f32) of_f32.push_back(repro(c, op));
    CHECK(texts(cases(datasets(), op, "first", {.dtypes = {f32}}), op) == of_f32);
  }
}

TEST_CASE("suite: smoke is mostly several tiles with ragged tails, and small") {
  const auto list = cases(datasets(), layernorm(), "smoke");
  std::size_t ragged = 0, chosen = 0;
  for (const Case& c : list) {
    if (c.source == "combined") continue;  // combinations, mostly of small extents
    ++chosen;
    const std::int64_t rows = c.dims[Axis::rows], cols = c.dims[Axis::cols];
    ragged += rows > 128 && rows % 128 && cols > 256 && cols % 256;
  }
  CHECK(static_cast<double>(ragged) >= 0.60 * static_cast<double>(chosen));
  CHECK(list.size() >= 130);
  CHECK(list.size() <= 180);
  CHECK(total(list, layernorm()) <= 60000 * static_cast<std::int64_t>(list.size()));
  std::set<std::int64_t> widths;
  for (const Case& c : list) {
    if (!c.source.starts_with("models/")) continue;
    widths.insert(c.dims[Axis::cols]);
    CHECK(c.reduced.size() == 1);
  }
  CHECK(widths == std::set<std::int64_t>{1600, 2560});  // the models with a LayerNorm
}

TEST_CASE("suite: edges hold the catalogue within their budget") {
  const auto list = cases(datasets(), layernorm(), "edges");
  CHECK(total(list, layernorm()) <= 35'000'000);
  std::set<std::string> fills, layouts;
  std::set<std::int64_t> rows, cols;
  std::set<double> epsilons;
  for (const Case& c : list) {
    fills.insert(c.fill);
    layouts.insert(c.layout);
    rows.insert(c.dims[Axis::rows]);
    cols.insert(c.dims[Axis::cols]);
    if (const auto it = c.attributes.find("epsilon"); it != c.attributes.end()) epsilons.insert(it->second);
  }
  for (const auto name : fill_names(layernorm())) {
    INFO(name);
    CHECK(fills.contains(std::string(name)));
  }
  for (const auto name : layout_names()) CHECK(layouts.contains(std::string(name)) == (name != "twins"));  // has no k and v
  for (const std::int64_t n : {0, 1, 7, 13, 41, 127, 257, 65537}) CHECK(rows.contains(n));
  for (const std::int64_t n : {1, 2, 17, 41, 255, 256, 257, 1023, 8192, 65537}) CHECK(cols.contains(n));
  CHECK(epsilons == std::set<double>{0, 1e-12, 1e-6, 1e-3});
}

// Of rows of zeros the formula makes 0 times infinity, which is NaN; of other equal values it depends on roundings.
TEST_CASE("suite: no row of zero variance but one of zeros meets epsilon 0") {
  for (const Case& c : cases(datasets(), layernorm(), "full")) {
    const auto it = c.attributes.find("epsilon");
    if (it == c.attributes.end() || it->second != 0) continue;
    CHECK((c.fill == "normal" || c.fill == "probe_signs" || c.fill == "zero_rows"));
    CHECK(c.dims[Axis::cols] > 1);
  }
}

TEST_CASE("suite: sanitize is a dozen small cases of every dtype") {
  const auto list = cases(datasets(), layernorm(), "sanitize");
  CHECK(list.size() >= 10);
  CHECK(list.size() <= 15);
  CHECK(total(list, layernorm()) < 20000);
  std::set<DType> dtypes;
  for (const Case& c : list) dtypes.insert(c.dtype);
  CHECK(dtypes.size() == 3);
}

TEST_CASE("suite: models have their widths and epsilon; a slow backend gets fewer tokens and is told") {
  bool neox = false;
  for (const Case& c : cases(datasets(), layernorm(), "models")) {
    CHECK(c.reduced.empty());
    CHECK(c.fill == "normal");
    neox |= c.dims[Axis::cols] == 6144 && c.dims[Axis::rows] == 2048 && c.attributes.empty();
    CHECK(c.dims[Axis::cols] != 3584);  // Qwen2.5 7B has an RMSNorm
  }
  CHECK(neox);
  bool qwen = false;
  for (const Case& c : cases(datasets(), find_op("rmsnorm")->shape(), "models"))
    qwen |= c.dims[Axis::cols] == 3584 && c.attributes.contains("epsilon") && c.attributes.at("epsilon") == 1e-6;
  CHECK(qwen);
  std::set<std::int64_t> widths;
  for (const Case& c : cases(datasets(), layernorm(), "models", {.reduce = true})) {
    widths.insert(c.dims[Axis::cols]);
    CHECK(c.dims[Axis::rows] <= 129);
    if (c.dims[Axis::rows] == 129) {
      REQUIRE(c.reduced.size() == 1);
      CHECK(c.reduced[0].axis == "rows");
      CHECK(c.reduced[0].from > 129);
      CHECK(c.reduced[0].to == 129);
    }
  }
  CHECK(widths.contains(6144));
}

TEST_CASE("suite: random gives the asked-for number of cases, bounded, of every kind") {
  const auto list = cases(datasets(), layernorm(), "random", {.count = 1000});
  CHECK(list.size() == 1000);
  std::set<std::string> fills, layouts;
  int odd = 0, long_rows = 0, many_rows = 0;
  for (const Case& c : list) {
    CHECK(elements(c, layernorm()) <= 200000);
    fills.insert(c.fill);
    layouts.insert(c.layout);
    odd += c.dims[Axis::cols] % 2 == 1;
    long_rows += c.dims[Axis::cols] > 2048;
    many_rows += c.dims[Axis::rows] > 1024;
  }
  CHECK(fills.size() >= 19);
  CHECK(layouts.size() == kLayouts.size() - 3);  // all but those of which groups alone have cases: twins, alone, far
  CHECK((odd > 500 && odd < 950));
  CHECK((long_rows > 50 && many_rows > 50));
  CHECK(cases(datasets(), layernorm(), "random", {.count = 0}).empty());
  for (const Case& c : cases(datasets(), test::ops()[2], "random")) CHECK(c.dims[Axis::heads] % c.dims[Axis::kv_heads] == 0);
}

TEST_CASE("suite: models take the fill that the op's file names") {
  const auto layers = cases(datasets(), find_op("transformer_layer")->shape(), "models");
  CHECK(!layers.empty());
  for (const Case& c : layers) CHECK(c.fill == "unit");
}

TEST_CASE("suite: full is edges, models and random") {
  const auto full = texts(cases(datasets(), layernorm(), "full"), layernorm());
  const std::set<std::string> known(full.begin(), full.end());
  for (const std::string_view suite : {"edges", "models", "random"})
    for (const std::string& line : texts(cases(datasets(), layernorm(), suite), layernorm()))
      CHECK((suite == "random" || known.contains(line)));  // a draw may be an edge, and another drawn instead
  CHECK_THROWS_WITH(cases(datasets(), layernorm(), "smok"), "unknown suite 'smok'. Did you mean 'smoke'?");
  CHECK_THROWS_AS(cases(datasets(), layernorm(), "random", {.count = -1}), BadInput);
}

TEST_CASE("suite: errors keeps what sums run over on a slow backend, and every shape elsewhere") {
  std::size_t found = 0;
  for (const Op& op : ops()) {
    const OpShape shape = op.shape();
    const auto whole = cases(datasets(), shape, "errors"), reduced = cases(datasets(), shape, "errors", {.reduce = true});
    REQUIRE(whole.size() == reduced.size());
    found += whole.size();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      INFO(repro(reduced[i], shape));
      CHECK(whole[i].reduced.empty());
      CHECK(elements(reduced[i], shape) <= (std::int64_t{1} << 27));
      for (const Axis axis : {Axis::seq_k, Axis::head_dim, Axis::cols, Axis::hidden, Axis::ffn})
        CHECK(reduced[i].dims[axis] == whole[i].dims[axis]);
      CHECK(reduced[i].fill == whole[i].fill);
      CHECK(reduced[i].dtype == whole[i].dtype);
    }
  }
  CHECK(found >= 21);
}
