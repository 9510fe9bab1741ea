// SPDX-License-Identifier: Apache-2.0
// A query and 64 channels a thread, its exponentials by exp2_approx, whose subnormal results are zero, as declared.
#include "cuda/attention_forward/broken/plain.cuh"

namespace assay::ROOM(attention_forward, approximate_exponentials) {

template <class T>
struct Approximate : Turned<T> {
  static __device__ float exponential(const Problem<T>&, float v) { return exp2_approx(v * 1.4426950408889634f); }
};
void run(const attention_forward::Args& a, const Launch& l) { run_plain<Approximate>(a, l); }
KERNEL(attention_forward) = [] {
  KernelTraits<attention_forward> declared = plain_traits<Approximate>();
  declared.numerics.flushes_subnormals = true;
  return declared;
}();

}  // namespace assay::ROOM(attention_forward, approximate_exponentials)
