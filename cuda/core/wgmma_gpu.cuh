// SPDX-License-Identifier: Apache-2.0
// wgmma on a GPU.  The text of an instruction names each of its n / 2 accumulators, so WGMMA(n, ...) defines one for every n that
// a kernel or a probe uses.  TEXT_n and LIST_n name n / 2 accumulators in the text and as operands; the other arguments of WGMMA
// are the numbers of the operands after them.  Matrices: PTX ISA, "Asynchronous warpgroup level matrix instructions".
#pragma once

#include "cuda/core/hopper_gpu.cuh"

namespace assay::on_gpu {

template <class T, bool kMnMajor>
struct SharedMatrix {
  std::uint64_t bits;
  __device__ __forceinline__ SharedMatrix plus(int bytes) const { return {bits + static_cast<std::uint64_t>(bytes >> 4)}; }
};
namespace detail {
__device__ __forceinline__ std::uint64_t matrix_bits(const void* p, int leading, int stride) {
  return static_cast<std::uint64_t>((shared_address(p) & 0x3ffff) >> 4) | static_cast<std::uint64_t>(leading >> 4) << 16 |
         static_cast<std::uint64_t>(stride >> 4) << 32 | std::uint64_t{1} << 62;
}
}  // namespace detail
template <class T>
__device__ __forceinline__ SharedMatrix<T, false> k_major(const void* p) {
  return {detail::matrix_bits(p, 16, 1024)};
}
template <class T>
__device__ __forceinline__ SharedMatrix<T, true> mn_major(const void* p, int leading_bytes) {
  return {detail::matrix_bits(p, leading_bytes, 1024)};
}

namespace detail {
template <int N>
struct Wgmma;

#define TEXT_8 "%0, %1, %2, %3"
#define LIST_8 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define TEXT_16 TEXT_8 ", %4, %5, %6, %7"
#define LIST_16 LIST_8, "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define TEXT_24 TEXT_16 ", %8, %9, %10, %11"
#define LIST_24 LIST_16, "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define TEXT_32 TEXT_24 ", %12, %13, %14, %15"
#define LIST_32 LIST_24, "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define TEXT_40 TEXT_32 ", %16, %17, %18, %19"
#define LIST_40 LIST_32, "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define TEXT_48 TEXT_40 ", %20, %21, %22, %23"
#define LIST_48 LIST_40, "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define TEXT_56 TEXT_48 ", %24, %25, %26, %27"
#define LIST_56 LIST_48, "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define TEXT_64 TEXT_56 ", %28, %29, %30, %31"
#define LIST_64 LIST_56, "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define TEXT_72 TEXT_64 ", %32, %33, %34, %35"
#define LIST_72 LIST_64, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define TEXT_80 TEXT_72 ", %36, %37, %38, %39"
#define LIST_80 LIST_72, "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define TEXT_88 TEXT_80 ", %40, %41, %42, %43"
#define LIST_88 LIST_80, "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define TEXT_96 TEXT_88 ", %44, %45, %46, %47"
#define LIST_96 LIST_88, "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define TEXT_104 TEXT_96 ", %48, %49, %50, %51"
#define LIST_104 LIST_96, "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define TEXT_112 TEXT_104 ", %52, %53, %54, %55"
#define LIST_112 LIST_104, "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define TEXT_120 TEXT_112 ", %56, %57, %58, %59"
#define LIST_120 LIST_112, "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define TEXT_128 TEXT_120 ", %60, %61, %62, %63"
#define LIST_128 LIST_120, "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define TEXT_136 TEXT_128 ", %64, %65, %66, %67"
#define LIST_136 LIST_128, "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define TEXT_144 TEXT_136 ", %68, %69, %70, %71"
#define LIST_144 LIST_136, "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define TEXT_152 TEXT_144 ", %72, %73, %74, %75"
#define LIST_152 LIST_144, "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define TEXT_160 TEXT_152 ", %76, %77, %78, %79"
#define LIST_160 LIST_152, "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define TEXT_168 TEXT_160 ", %80, %81, %82, %83"
#define LIST_168 LIST_160, "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define TEXT_176 TEXT_168 ", %84, %85, %86, %87"
#define LIST_176 LIST_168, "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define TEXT_184 TEXT_176 ", %88, %89, %90, %91"
#define LIST_184 LIST_176, "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define TEXT_192 TEXT_184 ", %92, %93, %94, %95"
#define LIST_192 LIST_184, "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define TEXT_200 TEXT_192 ", %96, %97, %98, %99"
#define LIST_200 LIST_192, "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define TEXT_208 TEXT_200 ", %100, %101, %102, %103"
#define LIST_208 LIST_200, "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define TEXT_216 TEXT_208 ", %104, %105, %106, %107"
#define LIST_216 LIST_208, "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define TEXT_224 TEXT_216 ", %108, %109, %110, %111"
#define LIST_224 LIST_216, "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define TEXT_232 TEXT_224 ", %112, %113, %114, %115"
#define LIST_232 LIST_224, "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define TEXT_240 TEXT_232 ", %116, %117, %118, %119"
#define LIST_240 LIST_232, "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define TEXT_248 TEXT_240 ", %120, %121, %122, %123"
#define LIST_248 LIST_240, "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define TEXT_256 TEXT_248 ", %124, %125, %126, %127"
#define LIST_256 LIST_248, "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

#define SHARED_A(n, k, format, a, b, p, majors, ...)                                                                           \
  ASSAY_SM90A("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n k ".f32." format "." format \
              " {" TEXT_##n "}, %" #a ", %" #b ", p, 1, 1" majors ";\n}"                                                       \
              : LIST_##n                                                                                                       \
              : "l"(of_a), "l"(of_b), "r"(static_cast<int>(keep))__VA_ARGS__)
#define REGISTERS_A(n, k, format, a0, a1, a2, a3, b, p, majors, ...)                                                           \
  ASSAY_SM90A("{\n.reg .pred p;\nsetp.ne.b32 p, %" #p ", 0;\nwgmma.mma_async.sync.aligned.m64n" #n k ".f32." format "." format \
              " {" TEXT_##n "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b ", p, 1, 1" majors ";\n}"                      \
              : LIST_##n                                                                                                       \
              : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of_b), "r"(static_cast<int>(keep))__VA_ARGS__)
#define WGMMA(n, r0, r1, r2, r3, r4, r5, r6)                                                                                  \
  template <>                                                                                                                 \
  struct Wgmma<n> {                                                                                                           \
    template <class T, bool kA, bool kB>                                                                                      \
    __device__ static __forceinline__ void run(float (&d)[n / 2], std::uint64_t of_a, std::uint64_t of_b, bool keep) {        \
      if constexpr (std::is_same_v<T, half>)                                                                                  \
        SHARED_A(n, "k16", "f16", r0, r1, r2, ", %" #r3 ", %" #r4, , "n"(int{kA}), "n"(int{kB}));                             \
      else if constexpr (std::is_same_v<T, bfloat16>)                                                                         \
        SHARED_A(n, "k16", "bf16", r0, r1, r2, ", %" #r3 ", %" #r4, , "n"(int{kA}), "n"(int{kB}));                            \
      else SHARED_A(n, "k8", "tf32", r0, r1, r2, "");                                                                         \
    }                                                                                                                         \
    template <class T, bool kB>                                                                                               \
    __device__ static __forceinline__ void run(float (&d)[n / 2], const unsigned (&a)[4], std::uint64_t of_b, bool keep) {    \
      if constexpr (std::is_same_v<T, half>) REGISTERS_A(n, "k16", "f16", r0, r1, r2, r3, r4, r5, ", %" #r6, , "n"(int{kB})); \
      else if constexpr (std::is_same_v<T, bfloat16>)                                                                         \
        REGISTERS_A(n, "k16", "bf16", r0, r1, r2, r3, r4, r5, ", %" #r6, , "n"(int{kB}));                                     \
      else REGISTERS_A(n, "k8", "tf32", r0, r1, r2, r3, r4, r5, "");                                                          \
    }                                                                                                                         \
  };

WGMMA(8, 4, 5, 6, 7, 8, 9, 10)
WGMMA(16, 8, 9, 10, 11, 12, 13, 14)
WGMMA(24, 12, 13, 14, 15, 16, 17, 18)
WGMMA(32, 16, 17, 18, 19, 20, 21, 22)
WGMMA(48, 24, 25, 26, 27, 28, 29, 30)
WGMMA(64, 32, 33, 34, 35, 36, 37, 38)
WGMMA(80, 40, 41, 42, 43, 44, 45, 46)
WGMMA(88, 44, 45, 46, 47, 48, 49, 50)
WGMMA(96, 48, 49, 50, 51, 52, 53, 54)
WGMMA(112, 56, 57, 58, 59, 60, 61, 62)
WGMMA(128, 64, 65, 66, 67, 68, 69, 70)
WGMMA(160, 80, 81, 82, 83, 84, 85, 86)
WGMMA(168, 84, 85, 86, 87, 88, 89, 90)
WGMMA(176, 88, 89, 90, 91, 92, 93, 94)
WGMMA(192, 96, 97, 98, 99, 100, 101, 102)
WGMMA(256, 128, 129, 130, 131, 132, 133, 134)
#undef WGMMA
#undef REGISTERS_A
#undef SHARED_A
#undef TEXT_8
#undef LIST_8
#undef TEXT_16
#undef LIST_16
#undef TEXT_24
#undef LIST_24
#undef TEXT_32
#undef LIST_32
#undef TEXT_40
#undef LIST_40
#undef TEXT_48
#undef LIST_48
#undef TEXT_56
#undef LIST_56
#undef TEXT_64
#undef LIST_64
#undef TEXT_72
#undef LIST_72
#undef TEXT_80
#undef LIST_80
#undef TEXT_88
#undef LIST_88
#undef TEXT_96
#undef LIST_96
#undef TEXT_104
#undef LIST_104
#undef TEXT_112
#undef LIST_112
#undef TEXT_120
#undef LIST_120
#undef TEXT_128
#undef LIST_128
#undef TEXT_136
#undef LIST_136
#undef TEXT_144
#undef LIST_144
#undef TEXT_152
#undef LIST_152
#undef TEXT_160
#undef LIST_160
#undef TEXT_168
#undef LIST_168
#undef TEXT_176
#undef LIST_176
#undef TEXT_184
#undef LIST_184
#undef TEXT_192
#undef LIST_192
#undef TEXT_200
#undef LIST_200
#undef TEXT_208
#undef LIST_208
#undef TEXT_216
#undef LIST_216
#undef TEXT_224
#undef LIST_224
#undef TEXT_232
#undef LIST_232
#undef TEXT_240
#undef LIST_240
#undef TEXT_248
#undef LIST_248
#undef TEXT_256
#undef LIST_256
}  // namespace detail

__device__ __forceinline__ void wgmma_begin() { ASSAY_SM90A("wgmma.fence.sync.aligned;" ::: "memory"); }
template <class T, bool kA, bool kB, int N>
__device__ __forceinline__ void wgmma(float (&acc)[N], SharedMatrix<T, kA> a, SharedMatrix<T, kB> b, bool keep) {
  detail::Wgmma<2 * N>::template run<T, kA, kB>(acc, a.bits, b.bits, keep);
}
template <class T, bool kB, int N>
__device__ __forceinline__ void wgmma(float (&acc)[N], const unsigned (&a)[4], SharedMatrix<T, kB> b, bool keep) {
  detail::Wgmma<2 * N>::template run<T, kB>(acc, a, b.bits, keep);
}
__device__ __forceinline__ void wgmma_commit() { ASSAY_SM90A("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Newest>
__device__ __forceinline__ void wgmma_wait() {
  ASSAY_SM90A("wgmma.wait_group.sync.aligned %0;" ::"n"(Newest) : "memory");
}
// Note: the compiler learns that the accumulators change here, so it neither moves nor copies them while products run.
template <int Newest, int N>
__device__ __forceinline__ void wgmma_wait(float (&acc)[N]) {
  wgmma_wait<Newest>();
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(acc[i])::"memory");
}
template <int Newest, int M, int N>
__device__ __forceinline__ void wgmma_wait(float (&acc)[M][N]) {
  wgmma_wait<Newest>();
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int i = 0; i < N; ++i) asm volatile("" : "+f"(acc[m][i])::"memory");
}

}  // namespace assay::on_gpu
