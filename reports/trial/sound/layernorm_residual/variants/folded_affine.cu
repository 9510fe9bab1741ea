// SPDX-License-Identifier: Apache-2.0
// A row a block, gamma and beta folded into the norm: y = x a + (beta - mean a), a = r gamma, with one FMA each.  An infinite
// gamma
// would give NaN where the formula gives an infinity, so it takes finite inputs only.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, folded_affine) {

template <class T>
struct Folded : Plain<T> {
  __device__ static float layernorm(const Rows<T>& m, std::int64_t c, float mean, float r) {
    const float a = r * to_float(ld(m.gamma + c));
    return fmaf(m.x_at(c), a, fmaf(-mean, a, to_float(ld(m.beta + c))));
  }
};
void run(const layernorm_residual::Args& a, const Launch& l) { run_plain<Folded>(a, l); }
KERNEL(layernorm_residual) = [] {
  KernelTraits<layernorm_residual> declared = plain_traits<Folded>();
  declared.numerics.folded_affine = true;
  declared.finite_inputs = true;
  return declared;
}();

}  // namespace assay::ROOM(layernorm_residual, folded_affine)
