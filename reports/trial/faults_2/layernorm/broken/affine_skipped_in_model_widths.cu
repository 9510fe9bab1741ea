// SPDX-License-Identifier: Apache-2.0
// FAULT: for the widths of well-known models gamma is taken to be one and beta zero, as in a fresh model.
// Kind: cheats
// Shows: cols of 768, 1024, 2048 or 4096 with any other gamma or beta.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, affine_skipped_in_model_widths) {

template <class T>
struct Fresh : Plain<T> {
  static __device__ float affine(float x, float mean, float r, float, float) { return (x - mean) * r; }
};

KERNEL(layernorm) = plain_traits<Plain>();

void run(const layernorm::Args& a, const Launch& l) {
  const std::int64_t cols = a.x.shape[1];
  if (cols == 768 || cols == 1024 || cols == 2048 || cols == 4096) run_plain<Fresh>(a, l);
  else run_plain<Plain>(a, l);
}

}  // namespace assay::ROOM(layernorm, affine_skipped_in_model_widths)
