// SPDX-License-Identifier: Apache-2.0
// FAULT: L, which comes in f32, is kept in f16 with everything else: each weight errs by 2^-11 of L.
// Kind: precision
// Caught by: the bound, with fill=special_keys (f16).
#include "cuda/attention_backward/broken/plain.cuh"

namespace assay::ROOM(attention_backward, lse_in_half) {

constexpr std::int64_t kConvert = 128;  // threads

std::size_t bytes(const attention_backward::Args& a) {
  return bytes_of_d(a) + static_cast<std::size_t>(a.lse.size()) * sizeof(float);
}
constexpr KernelTraits<attention_backward> declared() {
  KernelTraits<attention_backward> traits = plain_traits<Plain>({f16});
  traits.workspace_bytes = bytes;
  return traits;
}
KERNEL(attention_backward) = declared();

__global__ void lse_to_half(Heads<const float> lse, float* to, int heads, int queries, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kConvert + threadIdx.x;
  if (i >= n) return;
  const int query = static_cast<int>(i % queries), head = static_cast<int>(i / queries % heads);
  st(to + i, to_float(from_float<half>(ld(lse.row(static_cast<int>(i / queries / heads), head, query)))));
}

void run(const attention_backward::Args& a, const Launch& l) {
  attention_backward::Args b = a;
  const std::int64_t heads = a.lse.shape[1], queries = a.lse.shape[2], n = a.lse.size();
  b.lse.data = static_cast<char*>(l.workspace) + bytes_of_d(a);
  b.lse.stride = {heads * queries, queries, 1};
  if (n > 0)
    launch(lse_to_half, {.grid = dim3(ceil_div(n, kConvert)), .block = dim3(kConvert)}, l.stream,
           Heads<const float>{a.lse.as<float>(), a.lse.stride[0], a.lse.stride[2], a.lse.stride[1]}, b.lse.as<float>(), heads,
           queries, n);
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(attention_backward, lse_in_half)
