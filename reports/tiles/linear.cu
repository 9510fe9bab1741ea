// SPDX-License-Identifier: Apache-2.0
// y = x w^T, by tiles whose warpgroups take them in turns, by tiles that both share, and by whole sums of few tokens.
#include "reports/tiles/candidates.cuh"

namespace tiles {

using gemm::Shape;
using InTurns =
    gemm::Shapes<Shape<128, 192, true>, Shape<128, 176, true>, Shape<128, 168, true>, Shape<128, 160, true>,
                 Shape<128, 128, true>, Shape<128, 112, true>, Shape<128, 96, true>, Shape<128, 64, true>, Shape<64, 256, true>,
                 Shape<64, 192, true>, Shape<64, 128, true>, Shape<64, 112, true>, Shape<64, 96, true>, Shape<64, 64, true>>;
using Shared = gemm::Shapes<Shape<256, 192, false>, Shape<256, 176, false>, Shape<256, 168, false>, Shape<256, 128, false>,
                            Shape<128, 256, false>, Shape<128, 192, false>, Shape<128, 176, false>, Shape<128, 128, false>,
                            Shape<128, 112, false>, Shape<128, 96, false>, Shape<128, 80, false>, Shape<128, 64, false>>;

std::vector<Candidate> linear_tiles(const Problem& p) {
  const gemm::AddBias none{nullptr, p.n};
  std::vector<Candidate> all = candidates(InTurns{}, p, none);
  for (Candidate& c : candidates(Shared{}, p, none)) all.push_back(std::move(c));
  all.push_back(in_pieces<Shape<128, 192, true>>(p, none));
  all.push_back(in_pieces<Shape<128, 176, true>>(p, none));
  add_whole_sums<16, 32, 64, 88, 96, 168>(all, p, none);
  return all;
}

}  // namespace tiles
