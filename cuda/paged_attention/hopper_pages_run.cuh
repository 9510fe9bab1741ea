// SPDX-License-Identifier: Apache-2.0
// Decoding over pages for Hopper, on the host: what it declares and takes, its maps of the pool, and its launches.
#pragma once

#include <algorithm>
#include <numeric>

#include "cuda/paged_attention/hopper_pages.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

// A lane adds every eighth weight of a warp; sums are then joined over lanes (3), warps (4) and splits (4, and one for each 1024
// positions or more).  A weight is rescaled once in 64 positions, and at the joins of warps and of splits.
inline constexpr Numerics kPagesNumerics{.accumulate = f32,
                                         .chain = {.lanes = 32, .extra = 11},
                                         .mma_terms = 16,
                                         .narrow_probabilities = true,
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

template <class S, class Steps, class T>
void launch_pages(const paged_attention::Args& a, const Launch& l) {
  const Problem<T> p = problem<T>(a);
  const bool halves = p.dim == S::kDim;
  const int box = std::gcd(p.page_size, kStagePositions);
  const PagesWork w{.count = static_cast<int>(most_splits(a)),
                    .chunks = static_cast<int>(ceil_div(p.queries * p.group, S::kRows)),
                    .box = box,
                    .copies = halves ? 1 : S::kHalves,
                    .parts = static_cast<float*>(l.workspace),
                    .scale_log2e = static_cast<float>(a.scale_used() * 1.4426950408889634)};
  launch(paged_attention_pages<S, Steps, T>,
         {.grid = dim3(static_cast<unsigned>(std::int64_t{p.batches} * p.kv_heads * w.chunks * w.count)),
          .block = dim3(kPagesThreads),
          .shared_bytes = S::kShared,
          .dependent = l.after},
         l.stream, pool_map<T>(a.k_pool, box, halves), pool_map<T>(a.v_pool, box, halves), p, w);
  if (w.count > 1)
    launch(paged_attention_join_pages<Steps, T>,
           {.grid = dim3(static_cast<unsigned>(std::int64_t{p.batches} * p.queries * p.heads)),
            .block = dim3(kPagesThreads),
            .shared_bytes = kPagesThreads * 16 + kPagesWarps * 4,
            .dependent = true},
           l.stream, p, w);
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
