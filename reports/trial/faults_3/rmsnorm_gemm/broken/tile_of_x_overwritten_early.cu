// SPDX-License-Identifier: Apache-2.0
// FAULT: a block loads the next 96 channels of its token into shared memory while slower warps still multiply the last ones.
// Kind: concurrency
// Shows: hidden above 96 with more than 32 outputs.
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, tile_of_x_overwritten_early) {

inline constexpr int kChannels = 96;

template <class T>
__global__ void rmsnorm_gemm_tiled(Operands<T> p) {
  float* const tile = shared_memory<float>();
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
  const float r = Plain<T>::template scale<Plain<T>>(p, token);
  float sum = 0;
  for (std::int64_t first = 0; first < p.hidden; first += kChannels) {
    const std::int64_t count = p.hidden - first < kChannels ? p.hidden - first : kChannels;
    for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x)
      st(tile + i, p.x_at(token, first + i) * r * p.gamma_at(first + i));
    sync_block();
    if (o < p.out)
      for (std::int64_t i = 0; i < count; ++i) sum = fmaf(ld(tile + i), p.weight_at(o, first + i), sum);
  }
  if (o < p.out) st(p.y + token * p.y_stride + o, from_float<T>(sum));
}

KERNEL(rmsnorm_gemm) = plain_traits<Plain>();

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p{a.x.as<T>(),   a.gamma.as<T>(), a.weight.as<T>(),   a.y.as<T>(),      a.y.shape[0],
                        a.x.shape[1],  a.y.shape[1],    a.x.stride[0],      a.weight.stride[0], a.y.stride[0],
                        static_cast<float>(a.epsilon)};
    launch(rmsnorm_gemm_tiled<T>,
           {.grid = dim3(p.tokens, ceil_div(p.out, kPlainThreads)), .block = dim3(kPlainThreads),
            .shared_bytes = kChannels * sizeof(float)},
           l.stream, p);
  });
}

}  // namespace assay::ROOM(rmsnorm_gemm, tile_of_x_overwritten_early)
