// SPDX-License-Identifier: Apache-2.0
// FAULT: a row is split into parts of 1536 columns, and the block that joins them takes no more than 64.
// Kind: offsets
// Shows: rows of more than 98304 columns.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, join_takes_64_parts) {

inline constexpr std::int64_t kPart = 1536;
inline constexpr int kJoined = 64;

std::int64_t parts_of(const row_reduce::Args& a) { return std::max<std::int64_t>(1, ceil_div(a.x.shape[1], kPart)); }
std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(a.x.shape[0] * parts_of(a)) * 8; }

template <class T, class Fold>
__global__ void row_reduce_part_sums(const T* x, Fold* part_results, std::int64_t parts, std::int64_t cols, std::int64_t stride) {
  const std::int64_t row = blockIdx.x / parts, first = blockIdx.x % parts * kPart;
  Fold f;
  fold::take_packs<1, 1>(f, x + row * stride, first + threadIdx.x, first + kPart < cols ? first + kPart : cols, kPlainThreads);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(part_results + blockIdx.x, f);
}
template <class Fold>
__global__ void row_reduce_join_parts(const Fold* part_results, float* y, std::int64_t parts) {
  Fold f;
  if (threadIdx.x < parts) f = ld(part_results + blockIdx.x * parts + threadIdx.x);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y + blockIdx.x, f.result());
}

KERNEL(row_reduce){.dtypes = kEveryType,
                   .tiles = {tile(Axis::cols, kPart)},
                   .numerics = {.accumulate = f32,
                                .chain = {.lanes = std::int64_t{1} << 20, .extra = 32},
                                .rescales = {.lanes = std::int64_t{1} << 20, .extra = 32}},
                   .workspace_bytes = workspace_bytes};

template <class Fold>
void run_fold(const row_reduce::Args& a, const Launch& l) {
  const std::int64_t rows = a.x.shape[0], parts = parts_of(a);
  Fold* const results = static_cast<Fold*>(l.workspace);
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_part_sums<T, Fold>,
           {.grid = dim3(rows * parts), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(Fold)}, l.stream,
           a.x.as<T>(), results, parts, a.x.shape[1], a.x.stride[0]);
  });
  launch(row_reduce_join_parts<Fold>, {.grid = dim3(rows), .block = dim3(kJoined), .shared_bytes = kWarp * sizeof(Fold)},
         l.stream, results, a.y.as<float>(), parts);
}

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  if (a.what == Reduction::sum) return run_fold<fold::Sum>(a, l);
  if (a.what == Reduction::max) return run_fold<fold::Max>(a, l);
  if (a.what == Reduction::logsumexp) return run_fold<fold::LogSumExp>(a, l);
  run_fold<fold::SumOfSquares>(a, l);
}

}  // namespace assay::ROOM(row_reduce, join_takes_64_parts)
