// SPDX-License-Identifier: Apache-2.0
// FAULT: silu(gate) is written over gate, which is put back from workspace at the end: whoever reads gate meanwhile gets it.
// Caught by: T4: the machine saw writes to an input. Right for one that is empty.
#include "cuda/core/activation.cuh"
#include "cuda/core/kernel.cuh"
#include "ops/silu_mul.hpp"

namespace assay::ROOM(silu_mul, gate_overwritten_and_put_back) {

std::size_t copy_bytes(const silu_mul::Args& a) { return static_cast<std::size_t>(a.gate.size()) * sizeof(float); }
inline constexpr int kThreads = 256;

KERNEL(silu_mul){
    .dtypes = {f32},
    .tiles = {tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32},
    .workspace_bytes = copy_bytes,
};

enum class Step { activate, multiply, restore };

__global__ void step(Step what, float* gate, const float* up, float* y, float* copy, std::int64_t n, std::int64_t cols,
                     std::int64_t gate_stride, std::int64_t up_stride, std::int64_t y_stride) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  float* const g = gate + i / cols * gate_stride + i % cols;
  if (what == Step::activate) {
    st(copy + i, ld(g));
    st(g, silu(ld(g)));
  } else if (what == Step::multiply) st(y + i / cols * y_stride + i % cols, ld(g) * ld(up + i / cols * up_stride + i % cols));
  else st(g, ld(copy + i));
}

void run(const silu_mul::Args& a, const Launch& l) {
  const std::int64_t n = a.y.size();
  if (n == 0) return;
  for (const Step what : {Step::activate, Step::multiply, Step::restore})
    launch(step, {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)}, l.stream, what, a.gate.as<float>(),
           a.up.as<float>(), a.y.as<float>(), static_cast<float*>(l.workspace), n, a.y.shape[1], a.gate.stride[0], a.up.stride[0],
           a.y.stride[0]);
}

}  // namespace assay::ROOM(silu_mul, gate_overwritten_and_put_back)
