// SPDX-License-Identifier: Apache-2.0
// FAULT: results are kept in workspace beside the pointer and extents they belong to, and are handed out again while these stay
// the same.
// Kind: cheats
// Shows: a second call with other values in the same memory and the same workspace.
#include "cuda/row_reduce/broken/plain.cuh"

namespace assay::ROOM(row_reduce, workspace_remembers_result) {

struct Kept {
  const void* x;
  std::int64_t rows, cols;
  int what;
};
template <class Fold, class T>
__device__ inline void one_row(const T* x, float* y, float* kept, std::int64_t cols) {
  Fold f;
  fold::take_packs<1, 1>(f, x, threadIdx.x, cols, kPlainThreads);
  f = fold::join_block(f, shared_memory<Fold>());
  if (threadIdx.x == 0) st(y, f.result()), st(kept, f.result());
}
// The note of row r is 32 bytes at r, the result follows all notes.
template <class T>
__global__ void row_reduce_remembering(const T* x, float* y, std::int64_t rows, std::int64_t cols, std::int64_t stride,
                                       Reduction what, std::int64_t* notes) {
  const std::int64_t row = blockIdx.x, word = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(x));
  std::int64_t* const note = notes + row * 4;
  float* const kept = reinterpret_cast<float*>(notes + rows * 4) + row;
  const std::int64_t kind = 0x5a5a0000 + static_cast<int>(what);
  const bool known = ld(note) == word && ld(note + 1) == rows && ld(note + 2) == cols && ld(note + 3) == kind;
  sync_block();
  if (known) {
    if (threadIdx.x == 0) st(y + row, ld(kept));
    return;
  }
  const T* const from = x + row * stride;
  if (what == Reduction::sum) one_row<fold::Sum>(from, y + row, kept, cols);
  else if (what == Reduction::max) one_row<fold::Max>(from, y + row, kept, cols);
  else if (what == Reduction::logsumexp) one_row<fold::LogSumExp>(from, y + row, kept, cols);
  else one_row<fold::SumOfSquares>(from, y + row, kept, cols);
  if (threadIdx.x == 0) st(note, word), st(note + 1, rows), st(note + 2, cols), st(note + 3, kind);
}

std::size_t workspace_bytes(const row_reduce::Args& a) { return static_cast<std::size_t>(a.x.shape[0]) * (32 + 4); }
KERNEL(row_reduce){.dtypes = kEveryType,
                   .tiles = {tile(Axis::rows, 1), tile(Axis::cols, kPlainThreads)},
                   .numerics = {.accumulate = f32,
                                .chain = {.lanes = kPlainThreads, .extra = 10},
                                .rescales = {.lanes = kPlainThreads, .extra = 10}},
                   .workspace_bytes = workspace_bytes};

void run(const row_reduce::Args& a, const Launch& l) {
  if (a.x.shape[0] == 0) return;
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(row_reduce_remembering<T>,
           {.grid = dim3(a.x.shape[0]), .block = dim3(kPlainThreads), .shared_bytes = kWarp * sizeof(fold::LogSumExp)}, l.stream,
           a.x.as<T>(), a.y.as<float>(), a.x.shape[0], a.x.shape[1], a.x.stride[0], a.what,
           static_cast<std::int64_t*>(l.workspace));
  });
}

}  // namespace assay::ROOM(row_reduce, workspace_remembers_result)
