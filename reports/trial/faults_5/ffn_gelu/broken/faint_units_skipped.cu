// SPDX-License-Identifier: Apache-2.0
// FAULT: units of an activation below 2^-10 are left out of the second product, as if they were closed.
// KIND: cheats
// Right on: ffn_gelu f16 tokens=32 hidden=64 ffn=128 fill=normal seed=1
// Wrong on: ffn_gelu f32 tokens=16 hidden=64 ffn=128 fill=normal seed=1
// Wrong on: ffn_gelu f16 tokens=16 hidden=64 ffn=128 fill=fan_in seed=1
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, faint_units_skipped) {

KERNEL(ffn_gelu){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::hidden, kPlainOut), tile(Axis::ffn, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}, .cancelling_gelu = true},
    .workspace_bytes = plain_workspace,
};

struct Gelu {
  Activation form;
  __device__ float operator()(float sum, float bias) const {
    const float h = of(sum + bias);
    return fabsf(h) < 0x1p-10f ? 0.0f : h;
  }
  __device__ float of(float z) const {
    if (form == Activation::gelu_erf) return 0.5f * z * (1.0f + erff(z * 0.7071067811865476f));
    const float u = z * fmaf(0.035677408136300125f, z * z, 0.7978845608028654f);  // sqrt(2/pi) (z + 0.044715 z^3)
    return 0.5f * z * (1.0f + tanhf(u));
  }
};

void run(const ffn_gelu::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Gelu{a.form}); });
}

}  // namespace assay::ROOM(ffn_gelu, faint_units_skipped)
