// SPDX-License-Identifier: Apache-2.0
// FAULT: the tanh form whatever the form. They differ by 5e-4 at most.
// Caught by: the bound with form=erf, on chosen and unit.
#include "cuda/core/activation.cuh"
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, tanh_for_erf) {

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = plain_workspace,
};

struct Wrong {
  Activation form;
  __device__ float operator()(float sum, float bias) const { return gelu_tanh(sum + bias); }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Wrong{a.form}); });
}

}  // namespace assay::ROOM(ffn_gelu, tanh_for_erf)
