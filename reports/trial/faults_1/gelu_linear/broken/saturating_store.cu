// SPDX-License-Identifier: Apache-2.0
// FAULT: the result is clamped to the finite numbers of its dtype before it is stored; fminf and fmaxf also make a number of a
// NaN.
// Kind: ranges
// Shows: a NaN or inf in x, or a result beyond f16's range.
#include "cuda/gelu_linear/broken/plain.cuh"

namespace assay::ROOM(gelu_linear, saturating_store) {

template <class T>
struct Saturates : Plain<T> {
  __device__ static float gelu(const Operands<T>& p, float z, std::int64_t o) {
    const float most = std::is_same_v<T, half> ? 65504.0f : std::is_same_v<T, float> ? 3.4028234e38f : 3.3895314e38f;
    return fminf(fmaxf(Plain<T>::gelu(p, z, o), -most), most);
  }
};

KERNEL_FROM(gelu_linear, plain, Saturates);

}  // namespace assay::ROOM(gelu_linear, saturating_store)
