// SPDX-License-Identifier: Apache-2.0
// FAULT: has 0.044175 in place of GELU's constant 0.044715. Visible with form=tanh for |z| between 1 and 3: h is off by up to
// 0.0005, within allclose(1e-2).
// KIND: algorithm
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, digits_of_constant_swapped) {

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
    const float u = z * fmaf(0.035246550473465f, z * z, 0.7978845608028654f);  // sqrt(2/pi) (z + 0.044175 z^3)
    return 0.5f * z * (1.0f + tanhf(u));
  }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Gelu{a.form}); });
}

}  // namespace assay::ROOM(ffn_gelu, digits_of_constant_swapped)
