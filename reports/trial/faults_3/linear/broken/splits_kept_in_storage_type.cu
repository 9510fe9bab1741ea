// SPDX-License-Identifier: Apache-2.0
// FAULT: hidden goes in splits of 640 channels, whose sums are kept in workspace in the type of the tensors.
// Kind: precision
// Shows: hidden above 640 in f16 and bf16.
#include "cuda/linear/broken/plain.cuh"

namespace assay::ROOM(linear, splits_kept_in_storage_type) {

inline constexpr std::int64_t kShare = 640;

std::size_t workspace_bytes(const linear::Args& a) {
  return static_cast<std::size_t>(a.y.size() * ceil_div(a.x.shape[1], kShare)) * static_cast<std::size_t>(size_of(a.y.dtype));
}
constexpr KernelTraits<linear> with_workspace() {
  KernelTraits<linear> t = plain_traits<Plain>();
  t.workspace_bytes = workspace_bytes;
  return t;
}
KERNEL(linear) = with_workspace();

template <class T>
__global__ void linear_split_sums(Operands<T> p, std::int64_t splits) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  const std::int64_t split = blockIdx.z, end = (split + 1) * kShare < p.hidden ? (split + 1) * kShare : p.hidden;
  if (o >= p.out) return;
  float sum = 0;
  for (std::int64_t h = split * kShare; h < end; ++h) sum = fmaf(p.x_at(token, h), p.weight_at(o, h), sum);
  if (splits == 1) st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? sum + p.bias_at(o) : sum));
  else st(static_cast<T*>(p.workspace) + (split * p.tokens + token) * p.out + o, from_float<T>(sum));
}
template <class T>
__global__ void linear_join_splits(Operands<T> p, std::int64_t splits) {
  const std::int64_t token = blockIdx.x, o = static_cast<std::int64_t>(blockIdx.y) * kPlainThreads + threadIdx.x;
  if (o >= p.out) return;
  float sum = 0;
  for (std::int64_t s = 0; s < splits; ++s)
    sum += to_float(ld(static_cast<const T*>(p.workspace) + (s * p.tokens + token) * p.out + o));
  st(p.y + token * p.y_stride + o, from_float<T>(p.bias != nullptr ? sum + p.bias_at(o) : sum));
}

void run(const linear::Args& a, const Launch& l) {
  if (a.y.size() == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    const Operands<T> p = operands_of<T>(a, l);
    const std::int64_t splits = ceil_div(p.hidden, kShare), across = ceil_div(p.out, kPlainThreads);
    launch(linear_split_sums<T>, {.grid = dim3(p.tokens, across, splits), .block = dim3(kPlainThreads)}, l.stream, p, splits);
    if (splits > 1)
      launch(linear_join_splits<T>, {.grid = dim3(p.tokens, across), .block = dim3(kPlainThreads)}, l.stream, p, splits);
  });
}

}  // namespace assay::ROOM(linear, splits_kept_in_storage_type)
