// SPDX-License-Identifier: Apache-2.0
// Decoding over pages for Hopper, on the host: what it declares and takes, what its blocks work on, and its maps of the pool.
#pragma once

#include <algorithm>

#include "cuda/core/hopper_gemm.cuh"
#include "cuda/paged_attention/split.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

inline constexpr int kStagePositions = 64, kWarpPositions = 16, kPagesWarps = kStagePositions / kWarpPositions;
inline constexpr int kPagesThreads = kPagesWarps * kWarp;
inline constexpr int kBoxRow = 128;  // bytes: 64 channels

struct PagesWork {
  int count;     // splits for which there are blocks
  int chunks;    // blocks for the queries of one key/value head
  int box;       // positions of a box
  int copies;    // boxes for the channels of a position
  float* parts;  // outputs, then maxima and sums, [row, split] both
  float scale_log2e;
};

// Positions of a split of a sequence: 16 splits up to 8192 positions, up to 64 then.
__device__ __host__ inline int split_positions(int length) {
  return length <= 4096 ? 256 : length <= 8192 ? 512 : length <= 65536 ? 1024 : 2048;
}

// A lane adds every eighth weight of a warp; sums are then joined over lanes (3), warps (4) and splits (4, and one for each 1024
// positions or more).  A weight is rescaled once in 64 positions, and at the joins of warps and of splits.
inline constexpr Numerics kPagesNumerics{.accumulate = f32,
                                         .chain = {.lanes = 32, .extra = 11},
                                         .mma_terms = 16,
                                         .stores = "exps",
                                         .function_error = 4,  // exp2_approx: 2^-22
                                         .flushes_subnormals = true,
                                         .rescales = {.lanes = kStagePositions, .extra = 2}};

inline Legality pages_fit(const paged_attention::Args& a) {
  if (a.q.shape[3] > 128 || a.q.shape[3] % 8 != 0) return Legality::no("needs a head_dim that is a multiple of 8, up to 128");
  if (a.k_pool.shape[1] % kWarpPositions != 0) return Legality::no("needs a page_size that is a multiple of 16");
  for (const Tensor* t : {&a.q, &a.k_pool, &a.v_pool, &a.o})
    if (!t->rows_contiguous() || !t->rows_aligned(16)) return Legality::no("needs rows that start at multiples of 16 bytes");
  return extents_fit(a);
}

// The most splits that a sequence may have.
inline std::int64_t most_splits(const paged_attention::Args& a) {
  const std::int64_t room = room_of_table(a);
  std::int64_t most = 1;
  for (const std::int64_t length : {std::int64_t{4096}, std::int64_t{8192}, std::int64_t{65536}, room})
    if (length <= room) most = std::max(most, ceil_div(length, split_positions(static_cast<int>(length))));
  return most;
}

inline std::size_t bytes_of_splits(const paged_attention::Args& a) { return parts_bytes(a, most_splits(a)); }

// A map of boxes of `box` positions of one head: [page, head, half, slot, channel].  If the channels are not whole halves, a half
// is a box.
template <class T>
TensorMap pool_map(const Tensor& pool, int box, bool halves) {
  const std::int64_t dim = pool.shape[3];
  // Note: the stride of an axis of extent 1 is not used, and may be one that tensor_map refuses.
  const auto stride = [&](int axis) { return pool.shape[axis] > 1 ? pool.stride[axis] : 8; };
  const std::int64_t strides[] = {stride(1), 64, stride(2), stride(0)};
  const int each = halves ? static_cast<int>(dim / 64) : 1;
  return tensor_map<T>(pool.as<T>(), {halves ? 64 : dim, pool.shape[1], each, pool.shape[2], pool.shape[0]}, strides,
                       {64, box, each, 1, 1}, Swizzle::by_128);
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
