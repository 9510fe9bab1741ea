// SPDX-License-Identifier: Apache-2.0
// Two kernels, as frameworks that separate the norm from its weight run them: x divided by the root, rounded to the dtype, into
// workspace, then that times gamma.  The baseline for the fused kernels: the first is block_row's without gamma, the second has
// several 16-byte accesses in flight.
#include "cuda/core/pointwise.cuh"
#include "cuda/core/row_norm.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, unfused) {

using namespace row_norm;

// Rows of the workspace start at multiples of 16 bytes for any number of columns.
std::int64_t pitch(const rmsnorm::Args& a) {
  const std::int64_t width = kAccess / size_of(a.x.dtype);
  return ceil_div(a.x.shape[1], width) * width;
}

std::size_t workspace_bytes(const rmsnorm::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * pitch(a) * size_of(a.x.dtype));
}

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile_bytes(Axis::cols, kWarp* kAccess)},  // columns: what one warp takes at once
    .numerics = {.accumulate = f32, .chain = kBlockChain, .stores = "xhat"},
    .workspace_bytes = workspace_bytes,
};

// Arguments of the norm step: y without the weight.
struct Norm {
  Tensor x, y;  // [rows, cols]
  double epsilon;
};

struct Multiply {
  __device__ float operator()(float v, float gamma) const { return v * gamma; }
};

template <class T, int N, bool kHeld>
__global__ void __launch_bounds__(kMostThreads<N>) rmsnorm_unfused_norm(Matrices<T, Norm> m) {
  by_block<N, kHeld>(m, blockIdx.x);
}

template <class T, int N>
void run_norm(const Norm& a, const Launch& l) {
  launch_blocks<N>(rmsnorm_unfused_norm<T, N, true>, rmsnorm_unfused_norm<T, N, false>, matrices<T>(a), l.stream);
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  Norm norm{.x = a.x, .y = a.x, .epsilon = a.epsilon};
  norm.y.data = l.workspace;
  norm.y.stride[0] = pitch(a);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    wide(norm) ? run_norm<T, kPerAccess<T>>(norm, l) : run_norm<T, 1>(norm, l);
    pointwise::binary<T>({norm.y.as<T>(), norm.y.stride[0]}, {a.gamma.as<T>(), 0}, a.y.as<T>(), a.y.stride[0], rows, cols,
                         Multiply{}, l.stream);
  });
}

}  // namespace assay::ROOM(rmsnorm, unfused)
