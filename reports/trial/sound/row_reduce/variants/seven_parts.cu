// SPDX-License-Identifier: Apache-2.0
// A row in seven parts, a warp each, whose results wait in the workspace for a second launch that joins them in order.  logsumexp
// takes each part's exp from the part's own maximum, so a sum is rescaled once.
#include "cuda/core/fold.cuh"
#include "cuda/core/kernel.cuh"
#include "cuda/core/reduce.cuh"
#include "ops/row_reduce.hpp"

namespace assay::ROOM(row_reduce, seven_parts) {

inline constexpr std::int64_t kParts = 7;
inline constexpr int kJoinThreads = 64;

struct alignas(8) Part {
  float max, sum;
};
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(a.x.shape[0] * kParts) * sizeof(Part); }
Legality supports(const row_reduce::Args& a) {
  return a.x.shape[0] >= std::int64_t{1} << 28 ? Legality::no("more parts than a grid has blocks") : Legality::yes();
}

// 7 parts of 32 lanes; five additions in a warp, six from part to part.
KERNEL(row_reduce){
    .dtypes = {f16, bf16, f32},
    .tiles = {tile(Axis::cols, kParts * kWarp)},
    .numerics = {.accumulate = f32,
                 .chain = {.lanes = kParts * kWarp, .extra = 5 + 6},
                 .rescales = {.lanes = std::int64_t{1} << 40, .extra = 0}},
    .supports = supports,
    .workspace_bytes = workspace_bytes,
};

template <class T>
__global__ void row_reduce_seven_parts(const T* x, Part* parts, std::int64_t cols, std::int64_t stride, Reduction what) {
  const std::int64_t row = blockIdx.x / kParts, part = blockIdx.x % kParts, share = (cols + kParts - 1) / kParts;
  const std::int64_t first = part * share, end = first + share < cols ? first + share : cols;
  x += row * stride;
  const int lane = lane_id();
  Part mine{-INFINITY, 0};
  if (what == Reduction::max || what == Reduction::logsumexp) {
    for (std::int64_t c = first + lane; c < end; c += kWarp) mine.max = fold::larger(mine.max, to_float(ld(x + c)));
    for (int offset = kWarp / 2; offset > 0; offset /= 2) mine.max = fold::larger(mine.max, shuffle_xor(mine.max, offset));
  }
  if (what != Reduction::max) {
    const bool exponentials = what == Reduction::logsumexp, finite = fabsf(mine.max) < INFINITY;
    for (std::int64_t c = first + lane; c < end; c += kWarp) {
      const float v = to_float(ld(x + c));
      if (!exponentials) mine.sum = what == Reduction::sum ? mine.sum + v : fmaf(v, v, mine.sum);
      else if (finite) mine.sum += expf(v - mine.max);
    }
    mine.sum = warp_sum(mine.sum);
  }
  if (lane == 0) st(parts + blockIdx.x, mine);
}

__global__ void row_reduce_seven_parts_joined(const Part* parts, float* y, std::int64_t rows, Reduction what) {
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kJoinThreads + threadIdx.x;
  if (row >= rows) return;
  parts += row * kParts;
  float max = -INFINITY, sum = 0;
  for (int p = 0; p < kParts; ++p) max = fold::larger(max, ld(parts + p).max);
  for (int p = 0; p < kParts; ++p) {
    const Part part = ld(parts + p);
    if (what != Reduction::logsumexp) sum += part.sum;
    else if (fabsf(max) < INFINITY) sum += part.sum * expf(part.max - max);
  }
  float result = sum;
  if (what == Reduction::max) result = max;
  if (what == Reduction::logsumexp) result = fabsf(max) < INFINITY ? max + logf(sum) : max;
  st(y + row, result);
}

void run(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0];
  if (rows == 0) return;
  Part* const parts = static_cast<Part*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_seven_parts<T>, {.grid = dim3(rows * kParts), .block = dim3(kWarp)}, l.stream, a.x.as<T>(), parts,
           a.x.shape[1], a.x.stride[0], a.what);
  });
  launch(row_reduce_seven_parts_joined, {.grid = dim3(ceil_div(rows, kJoinThreads)), .block = dim3(kJoinThreads)}, l.stream, parts,
         a.y.as<float>(), rows, a.what);
}

}  // namespace assay::ROOM(row_reduce, seven_parts)
