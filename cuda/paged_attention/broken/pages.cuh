// SPDX-License-Identifier: Apache-2.0
// The family "pages" (core/kernel_family.cuh): attention over pages by tensor copies, with one of PagesSteps replaced.
// Room for 128 channels leaves room for two stages, so that the ring wraps within a split.
#pragma once

#include "cuda/core/kernel_family.cuh"
#include "cuda/paged_attention/hopper_pages_run.cuh"

namespace assay::ASSAY_FLAVOUR::paged_attention_room {

template <class Steps>
constexpr KernelTraits<paged_attention> pages_traits() {
  return {.dtypes = {f16},
          .only_arch = 90,
          .tiles = {tile(Axis::max_pages, 4)},
          .numerics = kPagesNumerics,
          .supports = pages_fit,
          .workspace_bytes = [](const paged_attention::Args& a) { return parts_bytes(a, most_splits(a)); }};
}
template <class Steps>
void run_pages(const paged_attention::Args& a, const Launch& l) {
  if (!nothing_to_do(a)) launch_pages<PagesShape<128, 8>, Steps, half>(a, l);
}

}  // namespace assay::ASSAY_FLAVOUR::paged_attention_room
