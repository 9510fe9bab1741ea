// SPDX-License-Identifier: Apache-2.0
// Rows of a table: one warp per token.  Lane 0 reads the id, all others get it by a shuffle.  Rows whose ends are aligned are
// copied by 16 bytes at a time, others by single elements.
template <class T>
__device__ void gather(const T* table, const int* ids, T* y, int tokens, int hidden, long long table_stride, long long y_stride) {
  const int token = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (token >= tokens) return;
  int id = 0;
  if (lane == 0) id = ids[token];
  id = __shfl_sync(0xffffffffu, id, 0);
  const T* from = table + id * table_stride;
  T* to = y + token * y_stride;
  constexpr int kPack = 16 / sizeof(T);
  int done = 0;
  if ((reinterpret_cast<size_t>(from) | reinterpret_cast<size_t>(to)) % 16 == 0) {
#pragma unroll 1
    for (int p = lane; p < hidden / kPack; p += 32) reinterpret_cast<uint4*>(to)[p] = reinterpret_cast<const uint4*>(from)[p];
    done = hidden / kPack * kPack;
  }
#pragma unroll 1
  for (int c = done + lane; c < hidden; c += 32) to[c] = from[c];
}

extern "C" __global__ void embedding_32(const unsigned* table, const int* ids, unsigned* y, int tokens, int hidden,
                                        long long table_stride, long long y_stride) {
  gather(table, ids, y, tokens, hidden, table_stride, y_stride);
}
extern "C" __global__ void embedding_16(const unsigned short* table, const int* ids, unsigned short* y, int tokens, int hidden,
                                        long long table_stride, long long y_stride) {
  gather(table, ids, y, tokens, hidden, table_stride, y_stride);
}
