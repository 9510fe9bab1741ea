// SPDX-License-Identifier: Apache-2.0
// One library call or element-wise kernel per step, as an eager framework runs it: gate and up by cuBLASLt, into workspace; then
// s = silu(gate), in place, and y = s up, one kernel each.  Every result is rounded to the dtype.
#include "cuda/core/activation.cuh"
#include "cuda/core/pointwise.cuh"
#include "cuda/gemm_swiglu/library_products.cuh"

namespace assay::ROOM(gemm_swiglu, baseline_eager) {

KERNEL(gemm_swiglu){
    .dtypes = {f16, bf16, f32},
    .min_arch = 80,
    .tiles = {tile(Axis::tokens, 128), tile(Axis::ffn, 128)},
    .numerics = {.accumulate = f32, .mma_terms = 8, .stores = "gate,up,s"},
    .available = vendor::cublaslt::available,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

struct Silu {
  __device__ float operator()(float gate) const { return silu(gate); }
};
struct Times {
  __device__ float operator()(float s, float up) const { return s * up; }
};

void run(const gemm_swiglu::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  const Plan p = run_products(a, l);
  with_type(a.y.dtype, [&]<class T>(Type<T>) {
    const std::int64_t rows = a.y.shape[0], ffn = a.y.shape[1];
    const pointwise::Rows<T> gate{p.gate.as<T>(), p.gate.stride[0]}, up{p.up.as<T>(), p.up.stride[0]};
    pointwise::unary<T>(gate, p.gate.as<T>(), p.gate.stride[0], rows, ffn, Silu{}, l.stream);
    pointwise::binary<T>(gate, up, a.y.as<T>(), a.y.stride[0], rows, ffn, Times{}, l.stream);
  });
}

}  // namespace assay::ROOM(gemm_swiglu, baseline_eager)
