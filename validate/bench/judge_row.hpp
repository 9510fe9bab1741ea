// SPDX-License-Identifier: Apache-2.0
// The inputs that bench gives its kernels, and the golden by which it judges their outputs on the host.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "validate/judge/compare.hpp"
#include "validate/problem/composite.hpp"
#include "validate/problem/image.hpp"
#include "validate/problem/op.hpp"
#include "validate/problem/sample.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/shared_memory.hpp"

namespace assay {

// A case's inputs, filled, in memory that a child process can map.
struct FilledInputs {
  FilledInputs(const Op& op, const Case& c) : packing(pack(op, c)), memory(packing.input_bytes) {
    for (std::size_t i = 0; i < op.tensors.size(); ++i) {
      images.push_back(is_given(op.tensors[i]) ? memory.data() + packing.given[i] : nullptr);
      if (images.back()) fill_image(op, c, static_cast<int>(i), packing.placements[i], images.back(), {});
    }
  }
  Packing packing;
  SharedMemory memory;
  std::vector<std::byte*> images;  // null for outputs
};

class RowJudge {
 public:
  RowJudge(const Op& op, const Case& c) : op_(op), case_(c), given_(op, c), golden_(op.make()) {
    attach(*golden_, c, given_.packing.placements, given_.images);
    golden_->set_errors(find_fill(op, c.fill).coherent ? Errors::coherent : Errors::independent);
    golden_->solve(sampled_rows(op, c, *golden_));
  }
  const SharedMemory& inputs() const { return given_.memory; }
  std::size_t output_bytes() const { return given_.packing.output_bytes; }
  Cost cost() const { return golden_->cost(); }
  // The largest err/bound over a kernel's outputs.  `images`: one per tensor of the op; those of inputs are not read.
  double margin(const Kernel& k, const std::vector<std::byte*>& images) const {
    const Packing& packing = given_.packing;
    double worst = 0;
    int output = 0;
    std::vector<std::byte*> all = images;
    for (std::size_t i = 0; i < op_.tensors.size(); ++i)
      if (op_.tensors[i].role != Role::output) all[i] = given_.images[i];
    std::unique_ptr<Problem> own;
    const Problem& problem = judged_by(op_, case_, packing.placements, all, *golden_, own);
    for (std::size_t i = 0; i < op_.tensors.size(); ++i) {
      if (op_.tensors[i].role != Role::output) continue;
      Tensor got = packing.placements[i].tensor;
      got.data = images[i];
      worst = std::max(worst, compare(problem, k.numerics, output++, got, false).margin);
    }
    return worst;
  }

 private:
  const Op& op_;
  Case case_;
  FilledInputs given_;
  std::unique_ptr<Problem> golden_;
};

}  // namespace assay
