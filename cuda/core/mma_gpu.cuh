// SPDX-License-Identifier: Apache-2.0
// The device layer on a GPU: tensor cores, asynchronous copies and packed 16-bit words, one function a PTX instruction.
// device.cuh says what each word means.  Fragments: PTX ISA, "Matrix fragments for mma.m16n8k16".
#pragma once

#include "cuda/core/device_gpu.cuh"

// Note: for an architecture that lacks the instruction, a word compiles to a trap.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define ASSAY_SM80(statement) __trap()
#else
#define ASSAY_SM80(statement) statement
#endif

namespace assay::on_gpu {

template <class T>
inline constexpr bool is_16_bit = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

#define ASSAY_MMA_16(format)                                              \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." format "." format \
               ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "             \
               "{%0,%1,%2,%3};"                                           \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])           \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define ASSAY_MMA_8(format)                                                                                                  \
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." format "." format ".f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                              \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]))

template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  static_assert(is_16_bit<T>);
  if constexpr (std::is_same_v<T, half>) ASSAY_SM80(ASSAY_MMA_16("f16"));
  else ASSAY_SM80(ASSAY_MMA_16("bf16"));
}
template <class T>
__device__ __forceinline__ void mma_m16n8k8(float (&c)[4], const unsigned (&a)[2], const unsigned (&b)[1]) {
  static_assert(is_16_bit<T>);
  if constexpr (std::is_same_v<T, half>) ASSAY_MMA_8("f16");
  else ASSAY_SM80(ASSAY_MMA_8("bf16"));
}
#undef ASSAY_MMA_16
#undef ASSAY_MMA_8

namespace detail {
__device__ __forceinline__ unsigned shared_address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
}  // namespace detail

#define ASSAY_LDMATRIX(trans)                                                                                        \
  static_assert(sizeof(T) == 2 && (N == 1 || N == 2 || N == 4));                                                     \
  const unsigned at = detail::shared_address(row);                                                                   \
  if constexpr (N == 1) {                                                                                            \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" trans ".shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(at) : "memory"); \
  } else if constexpr (N == 2) {                                                                                     \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" trans ".shared.b16 {%0,%1}, [%2];"                                  \
                 : "=r"(r[0]), "=r"(r[1])                                                                            \
                 : "r"(at)                                                                                           \
                 : "memory");                                                                                        \
  } else {                                                                                                           \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" trans ".shared.b16 {%0,%1,%2,%3}, [%4];"                            \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                                    \
                 : "r"(at)                                                                                           \
                 : "memory");                                                                                        \
  }
template <int N, class T>
__device__ __forceinline__ void ldmatrix(unsigned (&r)[N], const T* row) {
  ASSAY_LDMATRIX("")
}
template <int N, class T>
__device__ __forceinline__ void ldmatrix_trans(unsigned (&r)[N], const T* row) {
  ASSAY_LDMATRIX(".trans")
}
#undef ASSAY_LDMATRIX

// Note: copies of 16 bytes bypass the L1 cache (.cg), since tiles are read only once; smaller copies cannot bypass it.
template <int Bytes, class T>
__device__ __forceinline__ void cp_async(T* shared, const T* global, int valid = Bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16);
  const unsigned to = detail::shared_address(shared);
  if constexpr (Bytes == 16) {
    ASSAY_SM80(asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global), "r"(valid) : "memory"));
  } else {
    ASSAY_SM80(asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(Bytes), "r"(valid)
                            : "memory"));
  }
}
__device__ __forceinline__ void cp_async_commit() { ASSAY_SM80(asm volatile("cp.async.commit_group;" ::: "memory")); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  static_assert(N >= 0);
  ASSAY_SM80(asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"));
}

template <class T>
__device__ __forceinline__ unsigned pack(float low, float high) {
  static_assert(is_16_bit<T>);
  if constexpr (std::is_same_v<T, half>) return detail::bits<unsigned>(__floats2half2_rn(low, high));
  else return detail::bits<unsigned>(__floats2bfloat162_rn(low, high));
}
template <class T>
__device__ __forceinline__ Vec<float, 2> unpack(unsigned word) {
  static_assert(is_16_bit<T>);
  if constexpr (std::is_same_v<T, half>) {
    const float2 v = __half22float2(detail::bits<__half2>(word));
    return {{v.x, v.y}};
  } else {
    return {{__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000u)}};
  }
}
// Note: the compiler does not contract the _rn functions with an addition.
template <class T>
__device__ __forceinline__ unsigned multiply_packed(unsigned a, unsigned b) {
  static_assert(is_16_bit<T>);
  if constexpr (std::is_same_v<T, half>)
    return detail::bits<unsigned>(__hmul2_rn(detail::bits<__half2>(a), detail::bits<__half2>(b)));
  else return detail::bits<unsigned>(__hmul2_rn(detail::bits<__nv_bfloat162>(a), detail::bits<__nv_bfloat162>(b)));
}

__device__ __forceinline__ float exp2_approx(float v) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
  return r;
}

}  // namespace assay::on_gpu

#undef ASSAY_SM80
