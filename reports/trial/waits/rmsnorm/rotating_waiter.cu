// SPDX-License-Identifier: Apache-2.0
// SOUND: a whole row in shared memory, as boxes that count at one barrier; for row n lane 0 of warp n % 4 waits, a block barrier
// tells the others.  The row is scaled in place, and fenced before the next copy into the same buffer.
#include "cuda/core/hopper.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/rmsnorm.hpp"

namespace assay::ROOM(rmsnorm, rotating_waiter) {

inline constexpr int kThreads = 128, kWarps = kThreads / kWarp, kPart = 128, kMostCols = 8192;

Legality takes(const rmsnorm::Args& a) {
  if (a.x.shape[1] > kMostCols) return Legality::no("two rows do not fit into shared memory");
  if (!a.x.rows_aligned(16)) return Legality::no("rows of x are not 16-byte aligned");
  return Legality::yes();
}

KERNEL(rmsnorm){
    .dtypes = {f16, bf16, f32},
    .only_arch = 90,
    .tiles = {tile(Axis::cols, kPart)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 128, .extra = 11}},
    .supports = takes,
};

template <class T>
__global__ void rotating_waiter(const __grid_constant__ TensorMap x, const T* gamma, T* y, std::int64_t rows, int cols,
                                std::int64_t y_stride, float epsilon) {
  constexpr int kPartBytes = kPart * sizeof(T);
  const int t = static_cast<int>(threadIdx.x), parts = static_cast<int>(ceil_div(cols, kPart));
  Barrier* full = shared_memory<Barrier>(2 * parts * kPartBytes);
  float* partial = shared_memory<float>(2 * parts * kPartBytes + 16);
  if (t == 0) {
    barrier_init(full, 1);
    barrier_init(full + 1, 1);
    barriers_ready();
  }
  sync_block();

  auto request = [&](std::int64_t n, std::int64_t row) {
    const std::size_t s = n % 2;
    barrier_arrive_expect(full + s, parts * kPartBytes);
    for (int p = 0; p < parts; ++p)
      copy_box(shared_memory<T>((s * parts + p) * kPartBytes), x, full + s, p * kPart, static_cast<int>(row));
  };
  if (t == 0) request(0, blockIdx.x);

  std::int64_t n = 0;
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x, ++n) {
    if (t == 0 && row + gridDim.x < rows) request(n + 1, row + gridDim.x);
    if (warp_id() == n % kWarps && lane_id() == 0) barrier_wait(full + n % 2, static_cast<int>(n / 2 % 2));
    sync_block();
    T* buffer = shared_memory<T>(n % 2 * parts * kPartBytes);
    float squares = 0;
    for (int c = t; c < cols; c += kThreads) {
      const float v = to_float(ld(buffer + c));
      squares = fmaf(v, v, squares);
    }
    const float root = sqrtf(block_sum(squares, partial) / static_cast<float>(cols) + epsilon);
    for (int c = t; c < cols; c += kThreads) st(buffer + c, from_float<T>(to_float(ld(buffer + c)) / root * to_float(ld(gamma + c))));
    sync_block();
    for (int c = (t + kWarp) % kThreads; c < cols; c += kThreads) st(y + row * y_stride + c, ld(buffer + c));  // another warp's
    fence_shared_async();
    sync_block();
  }
}

void run(const rmsnorm::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1];
  if (rows == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const std::int64_t strides[] = {rows > 1 ? a.x.stride[0] : ceil_div(cols, 8) * 8};
    const TensorMap x = tensor_map<T, 2>(a.x.as<T>(), {cols, rows}, strides, {kPart, 1}, Swizzle::none);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(rows, 2 * multiprocessors()));
    launch(rotating_waiter<T>,
           {.grid = dim3(blocks),
            .block = dim3(kThreads),
            .shared_bytes = static_cast<std::size_t>(2 * ceil_div(cols, kPart) * kPart) * sizeof(T) + 16 + kWarp * sizeof(float)},
           l.stream, x, a.gamma.as<T>(), a.y.as<T>(), rows, static_cast<int>(cols), a.y.stride[0], static_cast<float>(a.epsilon));
  });
}

}  // namespace assay::ROOM(rmsnorm, rotating_waiter)
