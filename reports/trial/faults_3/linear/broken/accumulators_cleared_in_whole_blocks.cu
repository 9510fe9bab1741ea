// SPDX-License-Identifier: Apache-2.0
// FAULT: two launches add their halves of the sum in workspace, which is cleared by blocks of 256 without the last, partly
// filled one.
// Kind: concurrency
// Shows: tokens times out not a multiple of 256: the last elements begin with what the workspace held.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, accumulators_cleared_in_whole_blocks) {

inline constexpr int kClear = 256;

std::size_t workspace_bytes(const linear::Args& a) { return static_cast<std::size_t>(a.y.size()) * sizeof(float); }
constexpr KernelTraits<linear> with_workspace() {
  KernelTraits<linear> t = plain_traits<Plain>();
  t.workspace_bytes = workspace_bytes;
  return t;
}
KERNEL(linear) = with_workspace();

__global__ inline void linear_clear_sums(float* sums) {
  st(sums + static_cast<std::int64_t>(blockIdx.x) * kClear + threadIdx.x, 0.0f);
}
template <class T>
__global__ void linear_add_half(Operands<T> p, float* sums, std::int64_t first, std::int64_t end) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  float* const to = sums + token * p.out + o;
  float sum = ld(to);
  for (std::int64_t h = first; h < end; ++h) sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
  st(to, sum);
  if (end == p.hidden) st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? sum + p.bias_at(o) : sum));
}

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  float* const sums = static_cast<float*>(l.workspace);
  if (a.y.size() >= kClear) launch(linear_clear_sums, {.grid = dim3(a.y.size() / kClear), .block = dim3(kClear)}, l.stream, sums);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    const dim3 grid(p.tokens, ceil_div(p.out, kPlainThreads));
    const std::int64_t half = p.hidden / 2;
    launch(linear_add_half<T>, {.grid = grid, .block = dim3(kPlainThreads)}, l.stream, p, sums, 0, half);
    launch(linear_add_half<T>, {.grid = grid, .block = dim3(kPlainThreads)}, l.stream, p, sums, half, p.hidden);
  });
}

}  // namespace assay::ROOM(linear, accumulators_cleared_in_whole_blocks)
