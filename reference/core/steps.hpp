// SPDX-License-Identifier: Apache-2.0
// Goldens of ops as steps of a larger one, with f64 tensors between them, so that nothing is rounded.
#pragma once

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "ops/add.hpp"
#include "ops/attention_forward.hpp"
#include "ops/core/linked.hpp"
#include "ops/embedding.hpp"
#include "ops/gelu_linear.hpp"
#include "ops/gemm_swiglu.hpp"
#include "ops/layernorm.hpp"
#include "ops/linear.hpp"
#include "ops/rmsnorm.hpp"
#include "ops/rope.hpp"

namespace assay::reference {

// Allocates the arrays of a step's golden.
struct Arrays {
  const Dims& dims;
  std::deque<std::vector<double>> memory{};
  void array(std::string_view, Array& a, AxisList axes) {
    std::size_t n = 1;
    for (const Extent& e : axes) n *= static_cast<std::size_t>(e.of(dims));
    a = memory.emplace_back(n);
  }
};

// Runs the golden of a step and copies its outputs to `to`.
template <class Op>
void solve_as(const typename Op::Args& args, std::initializer_list<Array> to, std::int64_t rows, const Dims& dims) {
  Arrays arrays{dims};
  typename Op::Golden golden_of_step;
  Op::bind(golden_of_step, arrays);
  if (!LinkedGolden<Op>::solve) throw std::logic_error("this program was built without the op of a step (ASSAY_ONLY)");
  LinkedGolden<Op>::solve(args, golden_of_step, {.total = rows});
  std::size_t k = 0;
  for (const Array& output : to) {
    std::copy(arrays.memory[k].begin(), arrays.memory[k].end(), output.begin());
    ++k;
  }
}

}  // namespace assay::reference
