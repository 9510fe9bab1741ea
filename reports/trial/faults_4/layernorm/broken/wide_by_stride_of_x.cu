// SPDX-License-Identifier: Apache-2.0
// FAULT: uses 16-byte accesses if all tensors start at a multiple of 16 bytes and so do the rows of x; that the rows of y do,
// it does not ask. Visible with a y whose row stride is no multiple of 16 bytes while that of x is.
// KIND: offsets
#include "cuda/core/row_norm.cuh"
#include "ops/layernorm.hpp"

namespace assay::ROOM(layernorm, wide_by_stride_of_x) {

using namespace row_norm;

KERNEL(layernorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
};

bool starts_aligned(const layernorm::Args& a) {
  for (const Tensor* t : {&a.gamma, &a.beta, &a.y})
    if (reinterpret_cast<std::uintptr_t>(t->data) % kAccess) return false;
  return a.x.rows_aligned(kAccess);
}

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) layernorm_block_row(Matrices<T, layernorm::Args> m) {
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_width(const layernorm::Args& a, const Launch& l) {
  launch_blocks<N>(layernorm_block_row<T, N, true>, layernorm_block_row<T, N, false>, matrices<T>(a), l.stream);
}

void run(const layernorm::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) { starts_aligned(a) ? run_width<T, kPerAccess<T>>(a, l) : run_width<T, 1>(a, l); });
}

}  // namespace assay::ROOM(layernorm, wide_by_stride_of_x)
