// SPDX-License-Identifier: Apache-2.0
// FAULT: epsilon is kept from the first call, since a model has but one.
// Kind: cheat
// Caught by: the exact probes, with fill=probe_signs (f16).
#include "cuda/rmsnorm_gemm/broken/plain.cuh"

namespace assay::ROOM(rmsnorm_gemm, epsilon_of_first_call) {

KERNEL(rmsnorm_gemm) = plain_traits<Plain>();

void run(const rmsnorm_gemm::Args& a, const Launch& l) {
  static const double epsilon = a.epsilon;
  rmsnorm_gemm::Args b = a;
  b.epsilon = epsilon;
  run_plain<Plain>(b, l);
}

}  // namespace assay::ROOM(rmsnorm_gemm, epsilon_of_first_call)
