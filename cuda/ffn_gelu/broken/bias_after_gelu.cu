// SPDX-License-Identifier: Apache-2.0
// FAULT: b1 is added to gelu(x W1^T).
// Caught by: the comparison with bias=yes.
#include "cuda/core/activation.cuh"
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, bias_after_gelu) {

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = plain_workspace,
};

struct Wrong {
  Activation form;
  __device__ float operator()(float sum, float bias) const {
    return (form == Activation::gelu_erf ? gelu_erf(sum) : gelu_tanh(sum)) + bias;
  }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Wrong{a.form}); });
}

}  // namespace assay::ROOM(ffn_gelu, bias_after_gelu)
