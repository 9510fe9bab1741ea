// SPDX-License-Identifier: Apache-2.0
// y = silu(x w^T) * (x up^T).  A tile's columns are those of both products, so that y's tile is half as wide.
#include "reports/tiles/candidates.cuh"

namespace tiles {

template <int M, int N, bool Turns>
using Pair = gemm::Shape<M, N, Turns, 2>;
using Tiles =
    gemm::Shapes<Pair<128, 256, false>, Pair<128, 192, true>, Pair<128, 176, true>, Pair<128, 160, true>, Pair<128, 128, true>,
                 Pair<64, 256, true>, Pair<64, 192, true>, Pair<64, 176, true>, Pair<64, 128, true>>;

// Only a comparison: see reciprocal_approx.
struct ApproxSwiGlu {
  template <class T>
  __device__ void apply(float (&gate)[4], const float* up, gemm::Place /*at*/) const {
#pragma unroll
    for (int i = 0; i < 4; ++i) gate[i] *= reciprocal_approx(1.0f + assay::on_gpu::exp2_approx(-1.44269504f * gate[i])) * up[i];
  }
};

std::vector<Candidate> swiglu_tiles(const Problem& p) {
  std::vector<Candidate> all = candidates(Tiles{}, p, gemm::SwiGlu{});
  all.push_back(candidate<Pair<128, 176, true>>(p, ApproxSwiGlu{}, " rcp"));
  return all;
}

}  // namespace tiles
