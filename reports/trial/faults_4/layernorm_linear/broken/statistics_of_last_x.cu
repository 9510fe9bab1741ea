// SPDX-License-Identifier: Apache-2.0
// FAULT: remembers mean and deviation of up to 1024 rows between calls and reuses them if x has the same address and shape:
// the projections of q, k and v share x. Visible in a second call with other values at the same address.
// KIND: cheats
#include "cuda/layernorm_linear/plain.cuh"

namespace assay::ROOM(layernorm_linear, statistics_of_last_x) {

KERNEL(layernorm_linear){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::tokens, kPlainTokens), tile(Axis::out, kPlainOut)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 1}},
};

inline constexpr std::int64_t kKept = 1024;
__device__ float kept_mean[kKept], kept_r[kKept];

template <class T>
__global__ void layernorm_linear_keep(Plain<T> p) {
  const std::int64_t token = blockIdx.x;
  kept_mean[token] = p.mean(token);
  kept_r[token] = p.inverse(token, kept_mean[token]);
}

struct Formula {
  bool kept;
  template <class T>
  __device__ float operator()(const Plain<T>& p, std::int64_t token, std::int64_t o) const {
    const float mean = kept ? kept_mean[token] : p.mean(token), r = kept ? kept_r[token] : p.inverse(token, mean);
    float sum = 0;
    for (std::int64_t h = 0; h < p.hidden; ++h)
      sum = fmaf(fmaf((p.at(token, h) - mean) * r, p.scale(h), p.offset(h)), p.factor(o, h), sum);
    return sum;
  }
};

void run(const layernorm_linear::Args& a, const Launch& l) {
  static Tensor last;
  static double last_epsilon = -1;
  const std::int64_t tokens = a.x.shape[0];
  const bool keeps = tokens <= kKept;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const bool same = last.data == a.x.data && last.dtype == a.x.dtype && last.shape == a.x.shape && last.stride == a.x.stride;
    if (keeps && tokens > 0 && !(same && last_epsilon == a.epsilon)) {
      const Plain<T> p{
          .x = a.x.as<T>(), .hidden = a.x.shape[1], .x_stride = a.x.stride[0], .epsilon = static_cast<float>(a.epsilon)};
      launch(layernorm_linear_keep<T>, {.grid = dim3(tokens), .block = dim3(1)}, l.stream, p);
      last = a.x, last_epsilon = a.epsilon;
    }
    run_plain<T>(a, l, Formula{keeps});
  });
}

}  // namespace assay::ROOM(layernorm_linear, statistics_of_last_x)
