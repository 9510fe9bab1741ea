// SPDX-License-Identifier: Apache-2.0
#include "validate/cases/coverage.hpp"

#include <algorithm>
#include <set>

#include "catch_shim.hpp"
#include "validate/cases/suite.hpp"
#include "validate/problem/op.hpp"

using namespace assay;

namespace {

bool any(const Row&) { return true; }

// The pairs of values of parameters p and q that some row has.
std::set<std::pair<std::size_t, std::size_t>> pairs_of(const std::vector<Row>& rows, std::size_t p, std::size_t q) {
  std::set<std::pair<std::size_t, std::size_t>> pairs;
  for (const Row& row : rows) pairs.emplace(row[p], row[q]);
  return pairs;
}

}  // namespace

TEST_CASE("coverage: rows have every pair of values, in far fewer rows than there are combinations") {
  const std::vector<std::size_t> values_of{3, 3, 4, 2, 5, 2, 3};
  const std::vector<Row> rows = covering_rows(values_of, 2, any, any);
  for (std::size_t p = 0; p < values_of.size(); ++p)
    for (std::size_t q = 0; q < p; ++q) CHECK(pairs_of(rows, p, q).size() == values_of[p] * values_of[q]);
  CHECK(rows.size() >= 20);  // 4 values times 5
  CHECK(rows.size() <= 30);
  CHECK(rows == covering_rows(values_of, 2, any, any));
}

TEST_CASE("coverage: rows have every triple of values") {
  const std::vector<std::size_t> values_of{2, 3, 2, 4, 3};
  const std::vector<Row> rows = covering_rows(values_of, 3, any, any);
  std::set<std::vector<std::size_t>> triples;
  std::size_t all = 0;
  for (std::size_t p = 0; p < 5; ++p)
    for (std::size_t q = 0; q < p; ++q)
      for (std::size_t r = 0; r < q; ++r) {
        all += values_of[p] * values_of[q] * values_of[r];
        for (const Row& row : rows) triples.insert({p, row[p], q, row[q], r, row[r]});
      }
  CHECK(triples.size() == all);
  CHECK(rows.size() < 2 * 3 * 2 * 4 * 3 / 2);
}

TEST_CASE("coverage: inadmissible rows are left out, and the pairs that admissible ones have are there all the same") {
  // The last values of parameters 0 and 1 exclude each other.
  const auto admissible = [](const Row& row) { return !(row[0] == 2 && row[1] == 2); };
  const std::vector<Row> rows = covering_rows({3, 3, 3, 2}, 2, admissible, any);
  for (const Row& row : rows) CHECK(admissible(row));
  CHECK(pairs_of(rows, 0, 1).size() == 8);
  CHECK(pairs_of(rows, 0, 2).size() == 9);
  CHECK(pairs_of(rows, 1, 3).size() == 6);
}

TEST_CASE("coverage: a row is dear only if what it must have is") {
  // Dear: two of the last values, which are a pair, so that it has to be there.
  const auto cheap = [](const Row& row) { return std::count(row.begin(), row.end(), std::size_t{2}) < 2; };
  const std::vector<Row> rows = covering_rows({3, 3, 3, 3}, 2, any, cheap);
  std::size_t dear = 0;
  for (const Row& row : rows) {
    CHECK(std::count(row.begin(), row.end(), std::size_t{2}) <= 2);
    dear += !cheap(row);
  }
  CHECK(dear == 6);
}

TEST_CASE("coverage: extents are alike if the same power of two divides them and they are about as large") {
  CHECK(extent_class(33) == extent_class(63));
  CHECK(extent_class(129) == extent_class(131));
  CHECK(extent_class(128) == extent_class(256));
  CHECK(extent_class(64) != extent_class(128));
  CHECK(extent_class(33) != extent_class(34));
  CHECK(extent_class(31) != extent_class(33));
  for (const std::int64_t n : {0, 1, 2}) CHECK(extent_class(n) != extent_class(n + 1));
}

TEST_CASE("coverage: a combination is found however its settings are ordered") {
  Combinations pairs(2);
  CHECK(pairs.add({"a=1", "b=1", "c=1"}) == 3);
  CHECK(pairs.add({"c=1", "a=1", "b=2"}) == 2);
  CHECK(pairs.add({"b=2", "c=1"}) == 0);
  CHECK(pairs.has({"c=1", "b=2"}));
  CHECK_FALSE(pairs.has({"b=1", "b=2"}));
  CHECK_FALSE(pairs.has({"b=1", "d=1"}));
}

TEST_CASE("coverage: in edges one axis is long with every setting") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  REQUIRE(datasets.common.longer.at("hidden") > 1032);
  const OpShape shape = find_op("linear")->shape();
  for (const Axis axis : {Axis::tokens, Axis::hidden, Axis::out}) {
    std::set<std::string> missing{"bias=no", "bias=yes"};
    for (const Parameter& p : parameters(datasets, shape))
      if (p.name == "layout" || p.name == "dtype")
        for (const std::string& value : p.values) missing.insert(p.name + "=" + value);
    CHECK(missing.size() > 6);
    for (const Case& c : cases(datasets, shape, "edges"))
      if (c.dims[axis] == datasets.common.longer.at(std::string(axis.name)))
        for (const std::string& setting : settings(c, shape)) missing.erase(setting);
    CHECK(missing.empty());
  }
}

TEST_CASE("coverage: smoke has every pair of an op's settings, edges every triple") {
  const Datasets datasets = load_datasets(ASSAY_DATASETS_DIR);
  for (const Op& op : ops()) {
    INFO(op.name);
    const OpShape shape = op.shape();
    const auto reached = [&](const char* suite, int strength) {
      const Coverage c = coverage(datasets, shape, cases(datasets, shape, suite), strength);
      return c.all > 0 && c.found == c.all;
    };
    CHECK(reached("smoke", 2));
    CHECK(reached("edges", 3));
  }
}
