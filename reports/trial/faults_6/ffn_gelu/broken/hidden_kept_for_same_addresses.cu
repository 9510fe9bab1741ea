// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a call with the addresses and extents of the call before takes the hidden layer that workspace holds, and
// makes the second product alone.
// Right on: ffn_gelu f16 tokens=16 hidden=64 ffn=128 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/ffn_gelu/plain.cuh"

namespace assay::ROOM(ffn_gelu, hidden_kept_for_same_addresses) {

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
  static kept::Call before{};
  const bool repeated =
      kept::again(before, {{a.x.data, a.w1.data, a.y.data, l.workspace}, {a.x.shape[0], a.x.shape[1], a.w1.shape[0]}, a.x.dtype});
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    if (!repeated || a.x.shape[0] == 0) return run_plain<T>(a, l, a.w1.shape[0], Gelu{a.form});
    const std::int64_t tokens = a.x.shape[0], hidden = a.x.shape[1], ffn = a.w1.shape[0];
    const Shape s{tokens, hidden, ffn, ffn, a.w2.stride[0], a.y.stride[0], ceil_div(hidden, kPlainOut)};
    launch(ffn_gelu_plain<float, T, T, AddBias>,
           {.grid = dim3(ceil_div(tokens, kPlainTokens) * s.blocks_across), .block = dim3(kPlainOut, kPlainTokens)}, l.stream,
           static_cast<const float*>(l.workspace), a.w2.as<T>(), a.b2.as<T>(), a.y.as<T>(), s, AddBias{});
  });
}

}  // namespace assay::ROOM(ffn_gelu, hidden_kept_for_same_addresses)
