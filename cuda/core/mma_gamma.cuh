// SPDX-License-Identifier: Apache-2.0
// Multiplies the channels of B by gamma in the main loop of mma_gemm.cuh, by two 16-bit products an instruction, each rounded.
#pragma once

#include "cuda/core/mma_gemm.cuh"

namespace assay::ASSAY_FLAVOUR::mma_gemm {

inline constexpr std::size_t kGammaShared = kSharedBytes;  // byte offset of gamma's stages, after the tiles
inline constexpr std::size_t kBlockSharedBytes = kGammaShared + std::size_t{kStages} * kK * 2;

// Multiplies fragments of B by gamma.  Of 16 channels a lane holds 2t, 2t + 1 (part 0) and 2t + 8, 2t + 9 (part 1), t = lane % 4.
// gamma passes through shared memory, with zeros beyond its end.  So the products need no branch, and the compiler can put them
// between the mma.
template <class T, bool kWide>
struct TimesGamma {
  const T* gamma;
  std::int64_t hidden;
  unsigned words[2][2] = {};  // [step % 2][part]

  __device__ static T* shared(int stage) { return shared_memory<T>(kGammaShared) + stage * kK; }
  __device__ void load(int stage, std::int64_t k) const {
    const int thread = linear_thread();
    if constexpr (kWide) {
      if (thread >= kChunks) return;
      const std::int64_t h = k + thread * kChunk, left = hidden - h;
      const int valid = left >= kChunk ? kAccess : left > 0 ? static_cast<int>(left) * 2 : 0;
      cp_async<kAccess>(shared(stage) + thread * kChunk, valid ? gamma + h : gamma, valid);
    } else if (thread < kK) {
      st(shared(stage) + thread, k + thread < hidden ? ld(gamma + k + thread) : from_float<T>(0.0f));
    }
  }
  __device__ void fetch(int stage, int step) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
      words[step % 2][part] = ld(reinterpret_cast<const unsigned*>(shared(stage) + step * 16 + part * 8 + lane_id() % 4 * 2));
  }
  __device__ void apply(Fragments<T>& f, int step) const {
#pragma unroll
    for (int j = 0; j < kTilesN / 2; ++j)
#pragma unroll
      for (int part = 0; part < 4; ++part) f.b[j][part] = multiply_packed<T>(f.b[j][part], words[step % 2][part % 2]);
  }
};
static_assert(kK <= kThreads && kChunks <= kThreads);

}  // namespace assay::ASSAY_FLAVOUR::mma_gemm
