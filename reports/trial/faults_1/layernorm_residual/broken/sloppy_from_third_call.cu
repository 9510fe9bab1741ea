// SPDX-License-Identifier: Apache-2.0
// FAULT: the first two calls of a process are computed as declared; from the third on the root has 12 bits, which is cheaper.
// Kind: cheats
// Shows: f32, the third call and all after it.
#include "cuda/layernorm_residual/broken/plain.cuh"

namespace assay::ROOM(layernorm_residual, sloppy_from_third_call) {

template <class T>
struct Sloppy : Plain<T> {
  __device__ static float inverse(const Rows<T>& m, float variance) { return of_12_bits(Plain<T>::inverse(m, variance)); }
};

KERNEL(layernorm_residual) = plain_traits<Plain>();

void run(const layernorm_residual::Args& a, const Launch& l) {
  static int calls = 0;
  if (calls++ < 2) run_plain<Plain>(a, l);
  else run_plain<Sloppy>(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, sloppy_from_third_call)
