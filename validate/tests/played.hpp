// SPDX-License-Identifier: Apache-2.0
// Plays a kernel: a problem whose outputs come from the op's oracle, or from the golden if there is no oracle.  For tests of
// checks beyond the bound.
#pragma once

#include <memory>
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
      : op(o), c(what), packing(pack(op, c)), inputs(packing.input_bytes) {
    for (std::size_t t = 0; t < op.tensors.size(); ++t)
      if (is_given(op.tensors[t]))
        fill_image(op, c, static_cast<int>(t), packing.placements[t], inputs.data() + packing.given[t], {});
    play(n, fault);
  }
  Played(const Op& o, Related related, const Numerics& n = {}, Fault fault = nullptr)
      : op(o), c(related.c), packing(pack(op, c)), inputs(std::move(related.inputs)) {
    play(n, fault);
  }

  void play(const Numerics& numerics, Fault fault) {
    std::vector<std::byte*> images;
    for (std::size_t t = 0; t < op.tensors.size(); ++t)
      images.push_back(is_given(op.tensors[t]) ? inputs.data() + packing.given[t] : nullptr);
    problem = op.make();
    attach(*problem, c, packing.placements, images);
    if (const Legality ok = problem->legal(); !ok) throw std::logic_error(repro(c, op.shape()) + ": " + ok.why);
    problem->set_errors(find_fill(op, c.fill).coherent ? Errors::coherent : Errors::independent);
    problem->solve();
    outputs.resize(packing.output_bytes);
    int output = 0;
    for (std::size_t t = 0; t < op.tensors.size(); ++t) {
      if (op.tensors[t].role != Role::output) continue;
      Tensor y = packing.placements[t].tensor;
      y.data = outputs.data() + packing.at[t];
      const auto golden = problem->golden(output);
      std::vector<double> values(golden.begin(), golden.end());
      if (output++ == 0 && op.hooks.oracle) op.hooks.oracle(problem->args(), numerics, Roundings::declared, values);
      for (std::size_t i = 0; i < values.size(); ++i) y.set(static_cast<std::int64_t>(i), values[i]);
      if (output == 1) first = y;
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
