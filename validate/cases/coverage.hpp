// SPDX-License-Identifier: Apache-2.0
// Combinations of settings.  A setting is one value of one parameter of a case: an extent's class for an axis, an attribute's
// value, a layout, a fill, a dtype.  Faults mostly need one, two or three settings together (Kuhn, Wallace and Gallo, 2004), so
// suites are made to contain all pairs, or all triples.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/cases/datasets.hpp"

namespace assay {

// Extents of a class are taken for alike: 0, 1 and 2 are classes of their own; others are alike if the same power of two up to 64
// divides them and both are below 32, or up to 64, 256, 2048, or above.
std::string extent_class(std::int64_t extent);

// The settings of a case, like "rows=1n to 256" (odd, 65 to 256), "mask=causal", "layout=padded".
std::vector<std::string> settings(const Case&, const OpShape&);

// A set of combinations of `strength` settings.
class Combinations {
 public:
  explicit Combinations(int strength) : strength_(strength) {}
  // Adds all combinations of these settings; returns how many are new.
  std::size_t add(const std::vector<std::string>& settings);
  bool has(const std::vector<std::string>& settings) const;  // as many as a combination has
  std::size_t size() const { return found_.size(); }

 private:
  int strength_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::unordered_set<std::uint64_t> found_;
};

// What is combined for an op: its axes with the extents of `combined` in edges/common.json, moved into the range from which the
// op's random suite draws; its attributes, with the values that suite draws; layouts and dtypes.
struct Parameter {
  std::string name;
  std::vector<std::string> values;
};
std::vector<Parameter> parameters(const Datasets&, const OpShape&);

// Rows of values' indices, one for each parameter, in which every combination of values of `strength` parameters occurs that some
// admissible row has (a covering array).  Greedy: a row begins with a combination that no row before it has, and each further
// parameter takes the value that adds most.  While a row is not admissible or not cheap, the parameters outside its first
// combination go back to their first values, one by one.  If it is still not admissible then, the combination is left out.
using Row = std::vector<std::size_t>;
using RowTest = std::function<bool(const Row&)>;
std::vector<Row> covering_rows(const std::vector<std::size_t>& values_of, int strength, const RowTest& admissible,
                               const RowTest& cheap);

// The ranges of the op's random suite: its own, or those of edges/common.json with usual values of its attributes.
Ranges ranges_of(const Datasets&, const OpShape&);
// The fills from which it draws, each once.
std::vector<std::string> fills_of_random(const Ranges&, const OpShape&);

// The cases of covering_rows for the op's parameters, and for these fills if there are any; else all have the same fill.
std::vector<Case> covering_cases(const Datasets&, const OpShape&, int strength, const std::vector<std::string>& fills = {});

// Up to `count` of the cases, each chosen for the most pairs of settings that those chosen before it lack; in the order given.
std::vector<Case> richest_in_pairs(const std::vector<Case>& cases, const OpShape&, std::size_t count);

// For each axis that has an extent in `long` of edges/common.json: cases of that extent, and of the first one of `combined` in
// all other axes.  Every value of every attribute, layout and dtype occurs in at least one of them.
std::vector<Case> long_cases(const Datasets&, const OpShape&);

// How many combinations of an op's parameters a list of cases contains, of how many that admissible cases have.
struct Coverage {
  std::size_t found = 0, all = 0;
};
Coverage coverage(const Datasets&, const OpShape&, const std::vector<Case>&, int strength);

}  // namespace assay
