// SPDX-License-Identifier: Apache-2.0
// Plays a kernel: a problem whose outputs come from the op's oracle, or from the golden if there is no oracle.  For tests of
// checks beyond the bound.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "validate/judge/compare.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/relate.hpp"
#include "validate/worker/protocol.hpp"

namespace assay::test {

// A fault of the played kernel: changes its first output.
using Fault = void (*)(const Problem&, const Tensor&);

struct Played {
  Played(const Op& o, const Case& what, const Numerics& n = {}, Fault fault = nullptr)
      : op(o), c(what), packing(pack(op, c)), inputs(filled_inputs(op, c, packing)) {
    play(n, fault);
  }
  Played(const Op& o, Related related, const Numerics& n = {}, Fault fault = nullptr)
      : op(o), c(related.c), packing(pack(op, c)), inputs(std::move(related.inputs)) {
    play(n, fault);
  }

  void play(const Numerics& numerics, Fault fault) {
    problem = problem_with(op, c, packing, inputs.data());
    if (const Legality ok = problem->legal(); !ok) throw std::logic_error(repro(c, op.shape()) + ": " + ok.why);
    problem->set_errors(find_fill(op, c.fill).coherent ? Errors::coherent : Errors::independent);
    problem->solve();
    outputs.resize(packing.output_bytes);
    std::vector<std::size_t> written;
    std::vector<std::vector<double>> values;
    for (std::size_t t = 0; t < op.tensors.size(); ++t) {
      if (op.tensors[t].role != Role::output) continue;
      const auto golden = problem->golden(static_cast<int>(values.size()));
      values.emplace_back(golden.begin(), golden.end());
      written.push_back(t);
    }
    const std::vector<std::span<double>> spans(values.begin(), values.end());
    if (op.formula.oracle) op.formula.oracle(problem->args(), numerics, Roundings::declared, spans);
    for (std::size_t k = 0; k < values.size(); ++k) {
      Tensor y = packing.placements[written[k]].tensor;
      y.data = outputs.data() + packing.at[written[k]];
      for (std::size_t i = 0; i < values[k].size(); ++i) y.set(static_cast<std::int64_t>(i), values[k][i]);
      if (k == 0) first = y;
    }
    if (fault) fault(*problem, first);
  }
  bool within_bounds() const { return compare(*problem, {}, 0, first, false).wrong == 0; }

  const Op& op;
  Case c;
  Packing packing;
  std::vector<std::byte> inputs, outputs;
  std::unique_ptr<Problem> problem;
  Tensor first;
};

}  // namespace assay::test
