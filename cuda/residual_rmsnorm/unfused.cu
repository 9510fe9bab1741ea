// SPDX-License-Identifier: Apache-2.0
// Two kernels, as a library would run them: s = x + residual, then the RMSNorm of s, which it reads back.  The baseline for the
// fused kernels, so each one is tuned: the sum has several 16-byte accesses in flight, the norm is rmsnorm/block_row's.
#include "cuda/core/pointwise.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/residual_rmsnorm.hpp"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(residual_rmsnorm, unfused) {

using namespace row_norm;

KERNEL(residual_rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain},
    .supports = residual_rmsnorm::rounded_alone,  // the norm reads s back
};

struct Add {
  __device__ float operator()(float x, float residual) const { return x + residual; }
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) residual_rmsnorm_unfused_norm(Matrices<T, rmsnorm::Args> m) {
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_norm(const rmsnorm::Args& a, const Launch& l) {
  launch_blocks<N>(residual_rmsnorm_unfused_norm<T, N, true>, residual_rmsnorm_unfused_norm<T, N, false>, matrices<T>(a),
                   l.stream);
}

void run(const residual_rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  const rmsnorm::Args norm{.x = a.s, .gamma = a.gamma, .y = a.y, .epsilon = a.epsilon};
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    pointwise::binary<T>({a.x.as<T>(), a.x.stride[0]}, {a.residual.as<T>(), a.residual.stride[0]}, a.s.as<T>(), a.s.stride[0],
                         rows, cols, Add{}, l.stream);
    wide(norm) ? run_norm<T, kPerAccess<T>>(norm, l) : run_norm<T, 1>(norm, l);
  });
}

}  // namespace assay::ROOM(residual_rmsnorm, unfused)
