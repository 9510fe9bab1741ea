// SPDX-License-Identifier: Apache-2.0
// Candidates made of shapes of tiles and an epilogue (cuda/core/hopper_epilogue.cuh).
#pragma once

#include "cuda/core/hopper_epilogue.cuh"
#include "cuda/core/hopper_whole_product.cuh"
#include "reports/tiles/rest.cuh"
#include "reports/tiles/tiles.hpp"

namespace tiles {

namespace gemm = assay::on_gpu::hopper_gemm;
namespace whole = assay::on_gpu::hopper_whole;

inline assay::Tensor matrix(void* data, int rows, int columns) {
  return {.data = data, .dtype = assay::DType::f16, .rank = 2, .shape = {rows, columns}, .stride = {columns, 1}};
}

// Its name has the rows of the tile, the rows of all weights in it, and whether its warpgroups take tiles in turns or share one.
template <class S>
std::string name_of() {
  return std::to_string(S::kM) + "x" + std::to_string(S::kN) + (S::kTurns ? " turns" : " shared");
}
template <class S, class Epilogue>
Candidate candidate(const Problem& p, const Epilogue& epilogue, const char* note = "") {
  const auto launch = [=] {
    const assay::Tensor x = matrix(p.x, p.m, p.k), w = matrix(p.w, p.n, p.k), up = matrix(p.up, p.n, p.k),
                        y = matrix(p.y, p.m, p.n);
    gemm::launch_product<S, assay::on_gpu::half>(x, w, S::kWeights == 2 ? &up : nullptr, y, epilogue, {}, false);
  };
  return {name_of<S>() + note, launch};
}

// The rest of the tiles in pieces (rest.cuh).
template <class S, class Epilogue>
Candidate in_pieces(const Problem& p, const Epilogue& epilogue) {
  return {name_of<S>() + ", pieces", [=] {
            gemm::launch_rest<S, assay::on_gpu::half>(matrix(p.x, p.m, p.k), matrix(p.w, p.n, p.k), matrix(p.y, p.m, p.n),
                                                      epilogue, {});
          }};
}

// Whole sums of few tokens (cuda/core/hopper_whole.cuh), in tiles of so many features; none for more tokens than they take.
template <int... kFeatures, class Epilogue>
void add_whole_sums(std::vector<Candidate>& to, const Problem& p, const Epilogue& epilogue) {
  if (p.m > gemm::kFewTokens) return;
  (to.push_back({"whole sums, " + std::to_string(kFeatures),
                 [=] {
                   whole::launch_product<whole::Shape<kFeatures>, whole::Cut, assay::on_gpu::half>(
                       matrix(p.x, p.m, p.k), matrix(p.w, p.n, p.k), matrix(p.y, p.m, p.n), epilogue, nullptr, false);
                 }}),
   ...);
}

template <class... S, class Epilogue>
std::vector<Candidate> candidates(gemm::Shapes<S...>, const Problem& p, const Epilogue& epilogue) {
  return {candidate<S>(p, epilogue)...};
}

// 1 / d by one instruction.  No kernel has it: the candidates with it are only a comparison, which shows what the polynomial of
// cuda/core/activation.cuh costs.
__device__ inline float reciprocal_approx(float d) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
  return r;
}

}  // namespace tiles
