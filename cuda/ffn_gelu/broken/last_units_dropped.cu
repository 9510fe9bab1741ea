// SPDX-License-Identifier: Apache-2.0
// FAULT: the second product takes whole steps of 32 units and leaves the rest out. Right where 32 divides ffn.
// Caught by: the comparison where it does not.
#include "cuda/core/activation.cuh"
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, last_units_dropped) {

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = plain_workspace,
};

struct Wrong {
  Activation form;
  __device__ float operator()(float sum, float bias) const {
    const float z = sum + bias;
    return form == Activation::gelu_erf ? gelu_erf(z) : gelu_tanh(z);
  }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0] / 32 * 32, Wrong{a.form}); });
}

}  // namespace assay::ROOM(ffn_gelu, last_units_dropped)
