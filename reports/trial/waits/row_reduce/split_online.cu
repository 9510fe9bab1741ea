// SPDX-License-Identifier: Apache-2.0
// SOUND: logsumexp of parts of 1024 columns by a block each, online, 16 bytes a load; a second launch joins the parts of a row.
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, split_online) {

inline constexpr int kThreads = 128, kPart = 1024, kRows = 4;

Legality takes(const row_reduce::Args& a) {
  if (a.what != Reduction::logsumexp) return Legality::no("only logsumexp");
  if (a.x.shape[0] * ceil_div(a.x.shape[1], kPart) > 0x7fffffff) return Legality::no("more parts than blocks in a grid");
  return Legality::yes();
}

std::size_t scratch(const row_reduce::Args& a) {
  return static_cast<std::size_t>(a.x.shape[0] * ceil_div(a.x.shape[1], kPart)) * 2 * sizeof(float);
}

KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kPart), tile(Axis::rows, kRows)},
    .numerics = {.accumulate = f32, .chain = {.lanes = 32, .extra = 25}, .rescales = {.lanes = 32, .extra = 11}},
    .supports = takes,
    .workspace_bytes = scratch,
};

// exp of all values seen, added up, over e^max.  An infinity that is the maximum counts 1.
struct Online {
  float max = -INFINITY, sum = 0;
  __device__ void take(float v) {
    if (v > max) sum *= expf(max - v), max = v;
    sum += v == max ? 1.0f : expf(v - max);
  }
  __device__ float over(float all_max) const { return max == all_max ? sum : sum * expf(max - all_max); }
};

template <class T>
__global__ void parts(const T* x, Vec<float, 2>* joined, std::int64_t cols, std::int64_t per_row, std::int64_t stride, bool vectors) {
  constexpr int kPack = 16 / sizeof(T);
  float* partial = shared_memory<float>();
  const std::int64_t row = blockIdx.x / per_row, begin = blockIdx.x % per_row * kPart, end = std::min(begin + kPart, cols);
  const T* in = x + row * stride;
  Online mine;
  std::int64_t c = begin;
  if (vectors) {
    const std::int64_t whole = begin + (end - begin) / kPack * kPack;
    for (c = begin + threadIdx.x * kPack; c < whole; c += kThreads * kPack) {
      const auto pack = ld(reinterpret_cast<const Vec<T, kPack>*>(in + c));
      for (int i = 0; i < kPack; ++i) mine.take(to_float(pack[i]));
    }
    c = whole;
  }
  for (c += threadIdx.x; c < end; c += kThreads) mine.take(to_float(ld(in + c)));
  const float max = block_max(mine.max, partial);
  const float sum = block_sum(mine.over(max), partial);
  if (threadIdx.x == 0) st(joined + blockIdx.x, Vec<float, 2>{{max, sum}});
}

__global__ void join(const Vec<float, 2>* joined, float* y, std::int64_t rows, std::int64_t per_row) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRows + warp_id();
  if (row >= rows) return;
  Online mine;
  for (std::int64_t p = lane_id(); p < per_row; p += kWarp) {
    const auto part = ld(joined + row * per_row + p);
    const Online other{part[0], part[1]};
    const float max = fmaxf(mine.max, other.max);
    mine = {max, mine.over(max) + other.over(max)};
  }
  const float max = warp_max(mine.max), sum = warp_sum(mine.over(max));
  if (lane_id() == 0) st(y + row, max + logf(sum));
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], per_row = ceil_div(cols, kPart);
  if (rows == 0) return;
  auto* joined = static_cast<Vec<float, 2>*>(l.workspace);
  if (per_row > 0)
    with_type(a.x.dtype, [&]<class T>(Type<T>) {
      launch(parts<T>,
             {.grid = dim3(static_cast<unsigned>(rows * per_row)), .block = dim3(kThreads), .shared_bytes = kWarp * sizeof(float)},
             l.stream, a.x.as<T>(), joined, cols, per_row, a.x.stride[0], a.x.rows_aligned(16));
    });
  launch(join, {.grid = dim3(static_cast<unsigned>(ceil_div(rows, kRows))), .block = dim3(kRows * kWarp)}, l.stream, joined,
         a.y.as<float>(), rows, per_row);
}

}  // namespace assay::ROOM(row_reduce, split_online)
