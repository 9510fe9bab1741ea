// SPDX-License-Identifier: Apache-2.0
// HOSTILE: declares finite inputs, and traps on a NaN or an infinity.
// Expected: unsupported and never launched on such inputs; NaN in the gaps between rows does not count.
#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, takes_finite) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}, .finite_inputs = true};

template <class T>
__global__ void trap_unless_finite(const T* x, std::int64_t rows, std::int64_t cols, std::int64_t stride) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < cols; ++c)
      if (const float v = to_float(ld(x + r * stride + c)); !(v - v == 0)) st(static_cast<int*>(nullptr), 1);
}

void run(const layernorm_residual::Args& a, const Launch& l) {
  with_type(a.x.dtype, [&]<class T>(Type<T>) {
    launch(trap_unless_finite<T>, {.grid = dim3(1), .block = dim3(1)}, l.stream, a.x.as<T>(), a.x.shape[0], a.x.shape[1],
           a.x.stride[0]);
  });
  answer(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, takes_finite)
