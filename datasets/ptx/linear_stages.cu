// SPDX-License-Identifier: Apache-2.0
// A product of floats over tiles of 16 x 16 and steps of 16: cp.async fills one of two stages while the other is multiplied.
constexpr int kTile = 16, kPitch = 17;

__device__ void copy(float* to, const float* from, bool inside) {
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from), "r"(inside ? 4 : 0) : "memory");
}

extern "C" __global__ void linear_f32(const float* x, const float* weight, const float* bias, float* y, int tokens, int hidden,
                                      int out, long long x_stride, long long w_stride, long long y_stride) {
  __shared__ float xs[2][kTile][kPitch], ws[2][kTile][kPitch];
  const int col = threadIdx.x, row = threadIdx.y, t0 = blockIdx.y * kTile, o0 = blockIdx.x * kTile;
  const bool x_row = t0 + row < tokens, w_row = o0 + row < out;
  const float* x_at = x + (x_row ? t0 + row : 0) * x_stride;
  const float* w_at = weight + (w_row ? o0 + row : 0) * w_stride;
  const int steps = (hidden + kTile - 1) / kTile;
  auto load = [&](int step) {
    const int h = step * kTile + col, stage = step % 2;
    const int from = h < hidden ? h : 0;
    copy(&xs[stage][row][col], x_at + from, x_row && h < hidden);
    copy(&ws[stage][row][col], w_at + from, w_row && h < hidden);
  };
  load(0);
  asm volatile("cp.async.commit_group;" ::: "memory");
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) load(step + 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
#pragma unroll
    for (int h = 0; h < kTile; ++h) sum += xs[step % 2][row][h] * ws[step % 2][col][h];
    __syncthreads();
  }
  if (x_row && o0 + col < out) {
    if (bias != nullptr) sum += bias[o0 + col];
    y[(t0 + row) * y_stride + o0 + col] = sum;
  }
}
