// SPDX-License-Identifier: Apache-2.0
// Attention scores: one block per query and head.  The query and a row of scores stay in dynamic shared memory.
struct Strides {
  long long batch, seq, head;
};

extern "C" __global__ void scores_f32(const float* q, const float* k, float* p, Strides qs, Strides ks, Strides ps, int seq_q,
                                      int seq_k, int group, int head_dim, int mask, float scale) {
  extern __shared__ float memory[];
  __shared__ float joined[2];
  float* query = memory;
  float* row = memory + head_dim;
  const int i = blockIdx.x, head = blockIdx.y, batch = blockIdx.z, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  q += batch * qs.batch + i * qs.seq + head * qs.head;
  k += batch * ks.batch + head / group * ks.head;
  p += batch * ps.batch + head * ps.head + i * ps.seq;
#pragma unroll 1
  for (int d = threadIdx.x; d < head_dim; d += 64) query[d] = q[d];
  __syncthreads();
  const float factor = scale == 0 ? 1.0f / sqrtf(head_dim) : scale;
  int seen = seq_k;
  if (mask == 1) seen = min(max(i + 1 + seq_k - seq_q, 0), seq_k);
  if (mask == 2) seen = min(i + 1, seq_k);
  float max = -INFINITY;
  bool nan = false;
#pragma unroll 1
  for (int j = threadIdx.x; j < seen; j += 64) {
    float dot = 0;
#pragma unroll 1
    for (int d = 0; d < head_dim; ++d) dot += query[d] * k[j * ks.seq + d];
    dot *= factor;
    row[j] = dot;
    nan = nan || dot != dot || dot == INFINITY;
    max = fmaxf(max, dot);
  }
  for (int step = 16; step > 0; step /= 2) max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, step));
  if (__any_sync(0xffffffffu, nan)) max = NAN;
  if (lane == 0) joined[warp] = max;
  __syncthreads();
  const float other = joined[1 - warp];
  max = max != max || other != other ? NAN : fmaxf(max, other);
  __syncthreads();
  float sum = 0;
#pragma unroll 1
  for (int j = threadIdx.x; j < seen; j += 64) {
    const float e = max == -INFINITY ? 0.0f : expf(row[j] - max);
    row[j] = e;
    sum += e;
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  if (lane == 0) joined[warp] = sum;
  __syncthreads();
  sum = joined[0] + joined[1];
#pragma unroll 1
  for (int j = threadIdx.x; j < seq_k; j += 64) p[j] = j < seen && sum != 0 ? row[j] / sum : 0.0f;
}
