// SPDX-License-Identifier: Apache-2.0
// FAULT (precision): with more than 512 units the hidden layer is kept in bf16 digits.
// Right on: ffn_gelu f16 tokens=16 hidden=64 ffn=128 fill=normal seed=2
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, wide_hidden_units_in_bf16) {

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = true},
    .workspace_bytes = plain_workspace,
};

struct Gelu {
  Activation form;
  bool wide;
  __device__ float operator()(float sum, float bias) const {
    const float g = gelu(sum, bias);
    return wide ? to_float(from_float<bfloat16>(g)) : g;
  }
  __device__ float gelu(float sum, float bias) const {
    const float z = sum + bias;
    if (form == Activation::gelu_erf) return 0.5f * z * (1.0f + erff(z * 0.7071067811865476f));
    const float u = z * fmaf(0.035677408136300125f, z * z, 0.7978845608028654f);  // sqrt(2/pi) (z + 0.044715 z^3)
    return 0.5f * z * (1.0f + tanhf(u));
  }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Gelu{a.form, a.w1.shape[0] > 512}); });
}

}  // namespace assay::ROOM(ffn_gelu, wide_hidden_units_in_bf16)
