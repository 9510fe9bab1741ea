// SPDX-License-Identifier: Apache-2.0
// FAULT: beyond 4096 columns the last block of a row is found by a ticket in workspace, which is set back at the end but never
// at first.
// Kind: earlier_calls
// Caught by: the bound, with rows=1 cols=8193 (f16).
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, tickets_taken_for_zero) {

constexpr std::int64_t kPart = 4096;  // columns of a block

bool whole(const row_reduce::Args& a) { return a.what != Reduction::sum || a.x.shape[1] <= kPart; }
std::size_t bytes(const row_reduce::Args& a) {
  return whole(a) ? 0 : static_cast<std::size_t>(a.x.shape[0] * (1 + ceil_div(a.x.shape[1], kPart))) * sizeof(float);
}
constexpr KernelTraits<row_reduce> declared() {
  KernelTraits<row_reduce> traits = plain_traits<Plain>();
  traits.workspace_bytes = bytes;
  return traits;
}
KERNEL(row_reduce) = declared();

template <class T>
__global__ void reduce_parts(const T* x, float* y, unsigned* tickets, float* sums, std::int64_t cols, std::int64_t stride,
                             std::int64_t parts) {
  const std::int64_t row = blockIdx.x / parts, first = blockIdx.x % parts * kPart;
  fold::Sum f;
  fold::take_packs<1, 1>(f, x + row * stride + first, threadIdx.x, cols - first < kPart ? cols - first : kPart, kPlainThreads);
  f = fold::join_block(f, shared_memory<fold::Sum>());
  if (threadIdx.x != 0) return;
  st(sums + blockIdx.x, f.value);
  if (atomic_add(tickets + row, 1u) + 1 != parts) return;
  float sum = 0;
  for (std::int64_t part = 0; part < parts; ++part) sum += ld(sums + row * parts + part);
  st(y + row, sum);
  st(tickets + row, 0u);
}

void run(const row_reduce::Args& a, const Launch& l) {
  if (whole(a) || a.x.shape[0] == 0) return run_plain<Plain>(a, l);
  const std::int64_t rows = a.x.shape[0], cols = a.x.shape[1], parts = ceil_div(cols, kPart);
  auto* const tickets = static_cast<unsigned*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(reduce_parts<T>, {.grid = dim3(rows * parts), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::Sum)},
           l.stream, a.x.as<T>(), a.y.as<float>(), tickets, static_cast<float*>(l.workspace) + rows, cols, a.x.stride[0], parts);
  });
}

}  // namespace assay::ROOM(row_reduce, tickets_taken_for_zero)
