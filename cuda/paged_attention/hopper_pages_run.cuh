// SPDX-License-Identifier: Apache-2.0
// Decoding over pages for Hopper: its launches.
#pragma once

#include <numeric>

#include "cuda/paged_attention/hopper_pages.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

template <class S, class T>
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
  launch(paged_attention_pages<S, T>,
         {.grid = dim3(static_cast<unsigned>(std::int64_t{p.batches} * p.kv_heads * w.chunks * w.count)),
          .block = dim3(kPagesThreads),
          .shared_bytes = S::kShared,
          .dependent = l.after},
         l.stream, pool_map<T>(a.k_pool, box, halves), pool_map<T>(a.v_pool, box, halves), p, w);
  if (w.count > 1)
    launch(paged_attention_join_pages<T>,
           {.grid = dim3(static_cast<unsigned>(std::int64_t{p.batches} * p.queries * p.heads)),
            .block = dim3(kPagesThreads),
            .shared_bytes = kPagesThreads * 16 + kPagesWarps * 4,
            .dependent = true},
           l.stream, p, w);
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
