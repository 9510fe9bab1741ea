// SPDX-License-Identifier: Apache-2.0
// At most 24 blocks that walk over the rows, of up to 4096 columns: while a row is normalised from shared memory, the next one is
// copied there by cp_async, 4 bytes at a time; rows at odd places are copied element by element.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, row_copied_ahead) {

inline constexpr int kThreads = 64;
inline constexpr std::int64_t kMostCols = 4096, kMostBlocks = 24;

Legality supports(const rmsnorm::Args& a) {
  return a.x.shape[1] > kMostCols ? Legality::no("a row has more than 4096 columns") : Legality::yes();
}
// Five additions in a warp, one to join two.
KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kThreads)},
    .numerics = {.accumulate = f32, .chain = {.lanes = kThreads, .extra = 5 + 1}},
    .supports = supports,
};

template <class T>
__device__ inline void start_copy(const T* from, T* to, int cols) {
  constexpr int N = 4 / sizeof(T);
  const int thread = static_cast<int>(threadIdx.x), packs = reinterpret_cast<std::uintptr_t>(from) % 4 == 0 ? cols / N : 0;
  for (int p = thread; p < packs; p += kThreads) cp_async<4>(to + p * N, from + p * N);
  for (int c = packs * N + thread; c < cols; c += kThreads) st(to + c, ld(from + c));
  cp_async_commit();
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    rmsnorm_row_copied_ahead(const T* x, const T* gamma, T* y, std::int64_t rows, int cols, int pitch, std::int64_t x_stride,
                             std::int64_t y_stride, float epsilon) {
  float* const partial = shared_memory<float>();
  T* const buffers = shared_memory<T>(kWarp * sizeof(float));
  int now = 0;
  start_copy(x + blockIdx.x * x_stride, buffers, cols);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* const held = buffers + now * pitch;
    const std::int64_t next = row + gridDim.x;
    if (next < rows) {
      start_copy(x + next * x_stride, buffers + (1 - now) * pitch, cols);
      cp_async_wait<1>();
    } else {
      cp_async_wait<0>();
    }
    sync_block();
    float squares = 0;
    for (int c = static_cast<int>(threadIdx.x); c < cols; c += kThreads) {
      const float v = to_float(ld(held + c));
      squares = fmaf(v, v, squares);
    }
    const float r = 1.0f / sqrtf(block_sum(squares, partial) / static_cast<float>(cols) + epsilon);
    for (int c = static_cast<int>(threadIdx.x); c < cols; c += kThreads)
      st(y + row * y_stride + c, from_float<T>(to_float(ld(held + c)) * r * to_float(ld(gamma + c))));
    sync_block();
    now = 1 - now;
  }
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], pitch = ceil_div(cols, 8) * 8;
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(rmsnorm_row_copied_ahead<T>,
           {.grid = dim3(std::min(rows, kMostBlocks)),
            .block = dim3(kThreads),
            .shared_bytes = kWarp * sizeof(float) + static_cast<std::size_t>(2 * pitch) * sizeof(T)},
           l.stream, a.x.as<T>(), a.gamma.as<T>(), a.y.as<T>(), rows, static_cast<int>(cols), static_cast<int>(pitch),
           a.x.stride[0], a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm, row_copied_ahead)
