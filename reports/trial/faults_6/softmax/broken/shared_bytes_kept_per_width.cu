// SPDX-License-Identifier: Apache-2.0
// FAULT (state): the bytes of shared memory that hold a row are found once for each width, with the size of the dtype of that
// call.
// Right on: softmax f16 rows=32 cols=128 fill=normal seed=2
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/softmax.hpp"

namespace assay::ROOM(softmax, shared_bytes_kept_per_width) {

KERNEL(softmax){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kWarp)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kWarp, .extra = 5}},
    .supports =
        [](const softmax::Args& a) { return a.x.shape[1] > 8192 ? Legality::no("a row exceeds 8192 columns") : Legality::yes(); },
};

template <class T>
__global__ void softmax_shared_bytes_kept_per_width(const T* x, T* y, std::int64_t cols, std::int64_t x_stride,
                                                    std::int64_t y_stride) {
  T* const row = shared_memory<T>();
  x += blockIdx.x * x_stride, y += blockIdx.x * y_stride;
  float max = -INFINITY, sum = 0;
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(row + c, ld(x + c)), max = fmaxf(max, to_float(ld(row + c)));
  max = warp_max(max);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) sum += expf(to_float(ld(row + c)) - max);
  sum = warp_sum(sum);
  for (std::int64_t c = lane_id(); c < cols; c += kWarp) st(y + c, from_float<T>(expf(to_float(ld(row + c)) - max) / sum));
}

void run(const softmax::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  static std::int64_t known = -1;
  static std::size_t bytes = 0;
  if (known != cols) known = cols, bytes = static_cast<std::size_t>(cols * size_of(a.x.dtype));
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(softmax_shared_bytes_kept_per_width<T>, {.grid = dim3(rows), .block = dim3(kWarp), .shared_bytes = bytes}, l.stream,
           a.x.as<T>(), a.y.as<T>(), cols, a.x.stride[0], a.y.stride[0]);
  });
}

}  // namespace assay::ROOM(softmax, shared_bytes_kept_per_width)
