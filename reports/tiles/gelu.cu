// SPDX-License-Identifier: Apache-2.0
// y = gelu(x w^T + bias), with the form of tanh, which is the one that cuBLASLt has.
#include "reports/tiles/candidates.cuh"

namespace tiles {

using gemm::Shape;
using Tiles = gemm::Shapes<Shape<128, 256, false>, Shape<128, 192, true>, Shape<128, 176, true>, Shape<128, 168, true>,
                           Shape<128, 160, true>, Shape<128, 128, true>, Shape<128, 112, true>, Shape<64, 128, true>,
                           Shape<64, 96, true>, Shape<128, 168, false>>;

// Only a comparison: see reciprocal_approx.  2u = 2 sqrt(2/pi) (z + 0.044715 z^3), and gelu(z) = z / (1 + exp(-2u)).
struct ApproxGelu {
  gemm::AddBias bias;
  template <class T>
  __device__ void apply(float (&v)[4], const float* /*second*/, gemm::Place at) const {
    bias.template apply<T>(v, nullptr, at);
#pragma unroll
    for (float& z : v) {
      const float u = z * fmaf(0.0356774081f, z * z, 0.7978845608f);
      z *= reciprocal_approx(1.0f + assay::on_gpu::exp2_approx(-2.885390082f * u));
    }
  }
};

std::vector<Candidate> gelu_tiles(const Problem& p) {
  using assay::Activation;
  const gemm::AddBias bias{p.bias, p.n};
  const gemm::BiasGelu<Activation::gelu_tanh> gelu{bias};
  std::vector<Candidate> all = candidates(Tiles{}, p, gelu);
  all.push_back(in_pieces<Shape<128, 192, true>>(p, gelu));
  add_whole_sums<16, 32, 64, 88, 96, 168>(all, p, gelu);
  all.push_back(candidate<Shape<128, 168, true>>(p, ApproxGelu{bias}, " rcp"));
  // Note: the forms differ by 4.8e-4 at most, which count_different takes for equal.
  all.push_back(candidate<Shape<128, 168, true>>(p, gemm::BiasGelu<Activation::gelu_erf>{bias}, " erf"));
  return all;
}

}  // namespace tiles
