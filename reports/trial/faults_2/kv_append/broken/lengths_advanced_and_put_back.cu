// SPDX-License-Identifier: Apache-2.0
// FAULT: for batches of more than 8 the lengths, an input, are changed to the first new position and put back after the copy.
// Kind: cheats
// Shows: batch > 8: inputs are not to be written, and another kernel may read them meanwhile.
#include "cuda/kv_append/broken/plain.cuh"

namespace assay::ROOM(kv_append, lengths_advanced_and_put_back) {

__global__ inline void advance(std::int32_t* lengths, int batches, int by) {
  const int b = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (b < batches) st(lengths + b, ld(lengths + b) + by);
}

template <class T>
struct FromFirst : Plain<T> {
  __device__ static std::int64_t place(const Problem<T>& p, std::int64_t b, int row) {
    const int position = ld(p.lengths + b) + row;  // the length is that before the new rows
    if (position < 0) return -1;
    const std::int64_t page = ld(p.table + b * p.table_stride + position / p.page_size);
    return page * p.page_stride + position % p.page_size * p.slot_stride;
  }
};

KERNEL(kv_append) = plain_traits<Plain>();

void run(const kv_append::Args& a, const Launch& l) {
  if (a.k.size() == 0) return;
  if (a.k.shape[0] <= 8) return run_plain<Plain>(a, l);
  const int batches = static_cast<int>(a.k.shape[0]), rows = static_cast<int>(a.k.shape[1]);
  const dim3 grid(ceil_div(batches, 64)), block(64);
  launch(advance, {.grid = grid, .block = block}, l.stream, a.lengths.as<std::int32_t>(), batches, -rows);
  run_plain<FromFirst>(a, l);
  launch(advance, {.grid = grid, .block = block}, l.stream, a.lengths.as<std::int32_t>(), batches, rows);
}

}  // namespace assay::ROOM(kv_append, lengths_advanced_and_put_back)
