/* SPDX-License-Identifier: Apache-2.0
 * A launcher as a library might have it: raw pointers, sizes, an error code.  Its body is for the host here; one for a GPU would
 * enqueue its kernels on the stream.  rmsnorm_gemm_plugin.c makes a plugin of it.
 *   y[t, o] = sum_h x[t, h] r_t gamma[h] weight[o, h],  r_t = 1 / sqrt(mean_h x[t, h]^2 + epsilon) */
#include <math.h>

int cuda_fused_rmsnorm_gemm_fp16(const _Float16* x, const _Float16* gamma, const _Float16* weight, _Float16* y, int tokens,
                                 int hidden, int out, float epsilon, void* stream) {
  if (hidden < 1 || stream) return 1;
  for (int t = 0; t < tokens; ++t, x += hidden, y += out) {
    float squares = 0;
    for (int h = 0; h < hidden; ++h) squares += (float)x[h] * (float)x[h];
    const float r = 1 / sqrtf(squares / (float)hidden + epsilon);
    for (int o = 0; o < out; ++o) {
      float sum = 0;
      for (int h = 0; h < hidden; ++h) sum += (float)x[h] * r * (float)gamma[h] * (float)weight[(long)o * hidden + h];
      y[o] = (_Float16)sum;
    }
  }
  return 0;
}
