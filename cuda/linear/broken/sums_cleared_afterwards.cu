// SPDX-License-Identifier: Apache-2.0
// FAULT: from 512 channels on, parts of a sum meet in workspace, which is cleared after its use, for the next call: not before
// the first.
// Kind: earlier_calls
// Caught by: the bound, with tokens=3 hidden=1025 out=5 (f16).
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, sums_cleared_afterwards) {

constexpr std::int64_t kPart = 256;  // channels of a block

bool split(const linear::Args& a) { return a.x.shape[1] >= 2 * kPart; }
std::size_t bytes(const linear::Args& a) { return split(a) ? static_cast<std::size_t>(a.y.size()) * sizeof(float) : 0; }
constexpr KernelTraits<linear> declared() {
  KernelTraits<linear> traits = plain_traits<Plain>();
  traits.deterministic = false;
  traits.workspace_bytes = bytes;
  return traits;
}
KERNEL(linear) = declared();

template <class T>
__global__ void add_parts(Operands<T> p) {
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x, token = blockIdx.x;
  if (o >= p.out) return;
  float sum = 0;
  for (std::int64_t h = blockIdx.z * kPart; h < p.hidden && h < (blockIdx.z + 1) * kPart; ++h)
    sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
  atomic_add(static_cast<float*>(p.workspace) + token * p.out + o, sum);
}
template <class T>
__global__ void take_sums(Operands<T> p) {
  const std::int64_t o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x, token = blockIdx.x;
  if (o >= p.out) return;
  float* const sum = static_cast<float*>(p.workspace) + token * p.out + o;
  st(p.y + token * p.y_stride + o, from_float<T>(Plain<T>::add_bias(p, ld(sum), o)));
  st(sum, 0.0f);
}

void run(const linear::Args& a, const Launch& l) {
  if (!split(a) || a.y.size() == 0) return run_plain<Plain>(a, l);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    const std::int64_t across = ceil_div(p.out, kPlainThreads);
    launch(add_parts<T>, {.grid = dim3(p.tokens, across, ceil_div(p.hidden, kPart)), .block = dim3(kPlainThreads)}, l.stream, p);
    launch(take_sums<T>, {.grid = dim3(p.tokens, across), .block = dim3(kPlainThreads)}, l.stream, p);
  });
}

}  // namespace assay::ROOM(linear, sums_cleared_afterwards)
