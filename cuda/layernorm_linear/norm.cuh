// SPDX-License-Identifier: Apache-2.0
// The norm step, shared by the pipelines of this room: the LayerNorm of x, rounded to the dtype, by one block per row, as
// layernorm/block_row.
#pragma once

#include "cuda/core/row_norm.cuh"
#include "ops/layernorm_linear.hpp"

namespace assay::ASSAY_FLAVOUR::layernorm_linear_room {

using namespace row_norm;

// Arguments of the norm step.
struct Norm {
  Tensor x, gamma, beta, y;  // [tokens, hidden], [hidden], [hidden], [tokens, hidden]
  double epsilon;
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) layernorm_linear_norm(Matrices<T, Norm> m) {
  next_grid_may_start();
  by_block<N, kHeld>(m, blockIdx.x);
}

// `to`: [tokens, hidden].
inline void run_norm(const layernorm_linear::Args& a, const Tensor& to, void* stream) {
  const Norm norm{.x = a.x, .gamma = a.gamma, .beta = a.beta, .y = to, .epsilon = a.epsilon};
  const auto go = [&]<class T, int N>(Type<T>, std::integral_constant<int, N>) {
    launch_blocks<N>(layernorm_linear_norm<T, N, true>, layernorm_linear_norm<T, N, false>, matrices<T>(norm), stream);
  };
  with_type(a.x.dtype, [&]<class T>(Type<T> t) {
    wide(norm) ? go(t, std::integral_constant<int, kPerAccess<T>>{}) : go(t, std::integral_constant<int, 1>{});
  });
}

}  // namespace assay::ASSAY_FLAVOUR::layernorm_linear_room
