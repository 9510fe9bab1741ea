// SPDX-License-Identifier: Apache-2.0
// FAULT (state): a token whose mean is bit for bit that of the call before, at the same addresses, keeps its variance.
// Right on: layernorm_linear f16 tokens=16 hidden=64 out=64 fill=normal seed=2
#include "../../kept.cuh"
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, variance_kept_while_mean_alike) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
    .workspace_bytes = [](const layernorm_linear::Args& a) { return static_cast<std::size_t>(a.x.shape[0] * 8); },
};

// Of each token its mean and its inverse deviation.
template <class T>
__global__ void layernorm_linear_statistics(Plain<T> p, float* kept, bool repeated) {
  const std::int64_t token = static_cast<std::int64_t>(blockIdx.x) * kPlainOut + threadIdx.x;
  if (token >= p.tokens) return;
  const float mean = p.mean(token);
  if (repeated && ld(kept + token * 2) == mean) return;
  st(kept + token * 2, mean), st(kept + token * 2 + 1, p.inverse(token, mean));
}

struct Formula {
  const float* kept;
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = ld(kept + token * 2), r = ld(kept + token * 2 + 1);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  static kept::Call before{};
  const bool repeated = kept::again(before, {{a.x.data, l.workspace}, {a.x.shape[0], a.x.shape[1]}, a.x.dtype});
  float* const kept = static_cast<float*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Plain<T> p{.x = a.x.as<T>(),
                     .gamma = nullptr,
                     .beta = nullptr,
                     .weight = nullptr,
                     .bias = nullptr,
                     .y = nullptr,
                     .tokens = a.x.shape[0],
                     .hidden = a.x.shape[1],
                     .out = 0,
                     .x_stride = a.x.stride[0],
                     .weight_stride = 0,
                     .y_stride = 0,
                     .blocks_across = 0,
                     .epsilon = static_cast<float>(a.epsilon)};
    launch(layernorm_linear_statistics<T>, {.grid = dim3(ceil_div(p.tokens, kPlainOut)), .block = dim3(kPlainOut)}, l.stream, p,
           kept, repeated);
    run_plain<T>(a, l, Formula{kept});
  });
}

}  // namespace assay::ROOM(layernorm_linear, variance_kept_while_mean_alike)
