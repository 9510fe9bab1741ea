// SPDX-License-Identifier: Apache-2.0
// Suites: the lists of cases that a run is made of.
//   smoke     a minute's worth: several tiles with ragged tails, and the degenerate edges
//   edges     the edge catalogue: every extent, value class and layout that has broken a kernel somewhere
//   models    the shapes of published models
//   random    seeded draws
//   full      edges, models and random
//   sanitize  a dozen small cases for slow, watchful machines
//   watch     several blocks, tiles and steps of a pipeline with ragged ends, for --watch
//   long      long sequences and large products, for a GPU; their goldens are sampled
//   errors    shapes that the documents report absolute errors of, on numbers as a model has them; shown a line a case
//   fixed     one shape, round in every extent, on plain random numbers: what many a kernel is tested on and nothing else
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
  std::int64_t count = 200;           // cases of the random suite
  std::vector<DType> dtypes{};        // empty: all
  bool reduce = false;                // for a slow backend: model shapes keep their widths and have fewer tokens ...
  std::int64_t reduce_rows_to = 129;  // ... namely these: one tile of 128 and one more
  std::int64_t reduce_elements_to = std::int64_t{1} << 20;  // ... and where that is not enough, fewer features, heads and rows
};

// The cases of a suite, in a stable order, no repro text twice.  Each seed is made of the suite's and of the case's
// text, so a case keeps its numbers when others come or go.  An op without a file of its own, or whose file has no
// group for the suite, gets what edges/common.json says of its axes.  Throws BadInput.
std::vector<Case> cases(const Datasets&, const OpShape&, std::string_view suite, const SuiteOptions& = {});

// Collects cases: those that mean nothing here (the fill does not apply, the layout breaks the alignment, an extent is
// below its least) and those already there are left out.
class CaseList {
 public:
  CaseList(const OpShape&, const SuiteOptions&);
  ~CaseList();
  bool add(Case);  // whether it was taken
  std::vector<Case> take();
  const std::vector<DType>& dtypes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `count` draws more.
void add_random(CaseList&, const Ranges&, const OpShape&, const SuiteOptions&);

}  // namespace assay
