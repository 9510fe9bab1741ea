// SPDX-License-Identifier: Apache-2.0
// Suites: lists of cases.
//   first     a sixth of smoke: its cases with the most pairs of settings
//   smoke     every pair of settings (coverage.hpp); every class of values, several tiles with ragged tails, degenerate extents
//   edges     every triple of settings; extents, classes of values and layouts that have broken kernels elsewhere
//   models    shapes and settings of published models
//   random    random cases by a seed
//   full      edges, with the cases that edges leaves out because they show no new pair; models and random
//   sanitize  a dozen small cases for slow sanitizers
//   watch     several blocks, tiles and pipeline stages with ragged ends, for --watch
//   long      long sequences and large products, for a GPU; goldens are sampled
//   errors    shapes for which absolute errors have been published, on realistic values; printed one line per case
//   fixed     one shape with round extents on plain random numbers, as in many projects' tests
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/cases/datasets.hpp"

namespace assay {

struct SuiteOptions {
  std::uint64_t seed = 2026;
  std::int64_t count = 200;           // number of cases in the random suite
  std::vector<DType> dtypes{};        // empty: all
  bool reduce = false;                // for a slow backend: cut down the cases of `models` and `errors`
  std::int64_t reduce_rows_to = 129;  // most tokens of a model's case, whichever axis has them: one tile of 128 and one more
  std::int64_t reduce_elements_to = std::int64_t{1} << 20;  // larger cases get fewer features, heads and tokens
};

// The cases of a suite in a stable order, without duplicates.  A case's seed is derived from the suite's seed and the case's
// text, so its values do not change when other cases are added or removed.  An op without its own file, or without a group for
// the suite, gets the cases of edges/common.json, but none in `long` and `errors`.  Throws BadInput.
std::vector<Case> cases(const Datasets&, const OpShape&, std::string_view suite, const SuiteOptions& = {});

// Collects cases; skips duplicates and cases that do not apply (fill, alignment of the layout, least extents).
class CaseList {
 public:
  CaseList(const OpShape&, const SuiteOptions&);
  ~CaseList();
  bool add(Case);  // sets its seed; returns whether it was added
  // From here on `add` leaves out cases that show nothing new: neither a combination of two settings (coverage.hpp), nor an
  // extent with a dtype, that no case before it has.
  void only_new_pairs();
  std::vector<Case> take();
  const std::vector<DType>& dtypes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Adds `count` random cases.
void add_random(CaseList&, const Ranges&, const OpShape&, const SuiteOptions&);

}  // namespace assay
