// SPDX-License-Identifier: Apache-2.0
// Two kernels with one thread per output and serial FMA chains: h = gelu(x W1^T + b1) into workspace as f32, GELU as
// z/2 (1 + tanh) or z/2 (1 + erf), then h W2^T + b2.  Any layout.
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, naive) {

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = true},
    .workspace_bytes = plain_workspace,
};

struct Gelu {
  Activation form;
  __device__ float operator()(float sum, float bias) const {
    const float z = sum + bias;
    if (form == Activation::gelu_erf) return 0.5f * z * (1.0f + erff(z * 0.7071067811865476f));
    const float u = z * fmaf(0.035677408136300125f, z * z, 0.7978845608028654f);  // sqrt(2/pi) (z + 0.044715 z^3)
    return 0.5f * z * (1.0f + tanhf(u));
  }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Gelu{a.form}); });
}

}  // namespace assay::ROOM(ffn_gelu, naive)
