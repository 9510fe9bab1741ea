# SPDX-License-Identifier: Apache-2.0
"""A product by tensor descriptors that the kernel makes, compiled for sm_90 by triton_kernels.py."""

import triton
import triton.language as tl


@triton.jit
def linear_boxes_kernel(
    x, weight, y, tokens, hidden, out, x_row, w_row, y_row, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    of_x = tl.make_tensor_descriptor(x, [tokens, hidden], [x_row, 1], [M, K])
    of_w = tl.make_tensor_descriptor(weight, [out, hidden], [w_row, 1], [N, K])
    of_y = tl.make_tensor_descriptor(y, [tokens, out], [y_row, 1], [M, N])
    t, o = tl.program_id(0) * M, tl.program_id(1) * N
    z = tl.zeros((M, N), tl.float32)
    for begin in range(0, hidden, K):
        z = tl.dot(of_x.load([t, begin]), of_w.load([o, begin]).T, z)
    of_y.store([t, o], z.to(y.dtype.element_ty))
