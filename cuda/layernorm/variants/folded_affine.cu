// SPDX-License-Identifier: Apache-2.0
// A row a block, gamma and beta folded into the norm, as declared: y = x a + b, a = r gamma, b = beta - mean a.
#include "cuda/layernorm/broken/plain.cuh"

namespace assay::ROOM(layernorm, folded_affine) {

template <class T>
struct Folded : Plain<T> {
  static __device__ float affine(float x, float mean, float r, float gamma, float beta) {
    const float a = r * gamma;
    return x * a + (beta - mean * a);
  }
};
void run(const layernorm::Args& a, const Launch& l) { run_plain<Folded>(a, l); }
// Note: an infinite gamma gives NaN here (b is infinite minus infinite), where the formula gives an infinity.
KERNEL(layernorm) = [] {
  KernelTraits<layernorm> declared = plain_traits<Folded>();
  declared.numerics.folded_affine = true;
  declared.finite_inputs = true;
  return declared;
}();

}  // namespace assay::ROOM(layernorm, folded_affine)
