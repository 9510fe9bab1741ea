// SPDX-License-Identifier: Apache-2.0
// FAULT (state): the form of GELU is found once for each number of units.
// Right on: ffn_gelu f16 tokens=16 hidden=64 ffn=128 fill=normal seed=2
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, form_kept_per_width) {

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
  static std::int64_t known = -1;
  static Activation form = Activation::gelu_tanh;
  if (known != a.w1.shape[0]) known = a.w1.shape[0], form = a.form;
  with_type(a.x.dtype, [&]<class T>(Type<T>) { run_plain<T>(a, l, a.w1.shape[0], Gelu{form}); });
}

}  // namespace assay::ROOM(ffn_gelu, form_kept_per_width)
