// SPDX-License-Identifier: Apache-2.0
// SOUND: logsumexp, 16 lanes for each row, two passes; a maximum that is infinite is not subtracted.
#include "cuda/core/kernel.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, half_warps) {

inline constexpr int kLanes = 16, kThreads = 128, kRows = kThreads / kLanes;

Legality takes(const row_reduce::Args& a) {
  return a.what == Reduction::logsumexp ? Legality::yes() : Legality::no("only logsumexp");
}

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, kRows)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kLanes, .extra = 5}},
    .supports = takes,
};

template <class T>
__global__ void half_warps(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + threadIdx.x / kLanes;
  const std::int64_t width = row < rows ? cols : 0;  // all lanes of a warp come to the shuffles
  const T* in = x + row * stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = lane; c < width; c += kLanes) max = fmaxf(max, to_float(ld(in + c)));
  for (int n = kLanes / 2; n > 0; n /= 2) max = fmaxf(max, shuffle_xor(max, n));
  const float shift = std::isinf(max) ? 0.0f : max;
  for (std::int64_t c = lane; c < width; c += kLanes) sum += expf(to_float(ld(in + c)) - shift);
  for (int n = kLanes / 2; n > 0; n /= 2) sum += shuffle_xor(sum, n);
  if (lane == 0 && row < rows) st(y + row, shift + logf(sum));
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(half_warps<T>, {.grid = dim3(static_cast<unsigned>(ceil_div(rows, kRows))), .block = dim3(kThreads)}, l.stream, a.x.as<T>(),
           a.y.as<float>(), rows, cols, a.x.stride[0]);
  });
}

}  // namespace assay::ROOM(row_reduce, half_warps)
