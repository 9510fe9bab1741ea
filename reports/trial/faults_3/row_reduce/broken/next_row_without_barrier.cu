// SPDX-License-Identifier: Apache-2.0
// FAULT: a block that takes several rows writes its warps' results for the next row while the first warp may still read those
// of the last.
// Kind: concurrency
// Shows: more than 256 rows, since there are at most 256 blocks.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, next_row_without_barrier) {

template <class T, class Fold>
__global__ void row_reduce_rows_in_turn(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  Fold* const partial = shared_memory<Fold>();
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    Fold f;
    fold::take_packs<1, 1>(f, x + row * stride, threadIdx.x, cols, kPlainThreads);
    f = fold::join_warp(f);
    if (lane_id() == 0) st(partial + warp_id(), f);
    sync_block();
    if (warp_id() == 0) {
      f = fold::join_warp(lane_id() < kPlainThreads / kWarp ? ld(partial + lane_id()) : Fold{});
      if (lane_id() == 0) st(y + row, f.result());
    }
  }
}

KERNEL(row_reduce) = plain_traits<Plain>();

template <class Fold>
void run_fold(const row_reduce::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_rows_in_turn<T, Fold>,
           {.grid = dim3(std::min<std::int64_t>(a.x.shape[0], 256)), .block = dim3(kPlainThreads),
            .shared_bytes = kWarp * sizeof(Fold)},
           l.stream, a.x.as<T>(), a.y.as<float>(), a.x.shape[0], a.x.shape[1], a.x.stride[0]);
  });
}

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  if (a.what == Reduction::sum) return run_fold<fold::Sum>(a, l);
  if (a.what == Reduction::max) return run_fold<fold::Max>(a, l);
  if (a.what == Reduction::logsumexp) return run_fold<fold::LogSumExp>(a, l);
  run_fold<fold::SumOfSquares>(a, l);
}

}  // namespace assay::ROOM(row_reduce, next_row_without_barrier)
