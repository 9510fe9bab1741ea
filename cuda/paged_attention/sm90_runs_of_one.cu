// SPDX-License-Identifier: Apache-2.0
// sm90_split_keys with the join of hopper_runs.cuh, and no runs.
#include "cuda/paged_attention/hopper_runs.cuh"

namespace assay::ROOM(paged_attention, sm90_runs_of_one) {

  std::size_t workspace_bytes(const paged_attention::Args& a) { return parts_bytes(a, most_splits(a)); }

  KERNEL(paged_attention){
      .dtypes = {f16, bf16},
      .only_arch = 90,
      .tiles = {tile(Axis::max_pages, 4)},  // a stage takes 64 positions: four pages of 16 slots
      .numerics = kPagesNumerics,
      .supports = pages_fit,
      .workspace_bytes = workspace_bytes,
  };

  void run(const paged_attention::Args& a, const Launch& l) {
    if (nothing_to_do(a)) return;
    with_half_type(a.q.dtype, [&]<class T>(Type<T>) {
      const bool few = a.q.shape[1] * (a.q.shape[2] / a.k_pool.shape[2]) <= 8;
      if (a.q.shape[3] > 64)
        few ? launch_runs<RunsShape<128, 8>, PagesSteps, 1, T>(a, l) : launch_pages<PagesShape<128, 16>, PagesSteps, T>(a, l);
      else few ? launch_runs<RunsShape<64, 8>, PagesSteps, 1, T>(a, l) : launch_runs<RunsShape<64, 16>, PagesSteps, 1, T>(a, l);
    });
  }

}  // namespace assay::ROOM(paged_attention, sm90_runs_of_one)
