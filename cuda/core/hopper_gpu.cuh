// SPDX-License-Identifier: Apache-2.0
// The words of hopper.cuh on a GPU, but wgmma.  One function a PTX instruction.
#pragma once

#include <cuda.h>

#include "cuda/core/device_gpu.cuh"

// Note: code for another architecture compiles, and traps when it comes to such a word.
#if defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define ASSAY_SM90A(...) __trap()
#else
#define ASSAY_SM90A(...) asm volatile(__VA_ARGS__)
#endif

namespace assay::on_gpu {

struct TensorMap {
  CUtensorMap map;
};
enum class Swizzle { none, by_32, by_64, by_128 };
struct tf32 {
  float value;
};

inline int multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "the number of multiprocessors");
  return count;
}

template <class T, int Rank>
TensorMap tensor_map(const T* data, const std::int64_t (&extents)[Rank], const std::int64_t* strides, const int (&box)[Rank],
                     Swizzle swizzle) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
          "looking for cuTensorMapEncodeTiled");
    if (function == nullptr) throw std::runtime_error("the driver has no cuTensorMapEncodeTiled");
    return reinterpret_cast<Encode>(function);
  }();
  cuuint64_t of_extents[5] = {}, bytes[5] = {};
  cuuint32_t of_box[5] = {}, ones[5] = {1, 1, 1, 1, 1};
  for (int d = 0; d < Rank; ++d) {
    of_extents[d] = static_cast<cuuint64_t>(extents[d]);
    of_box[d] = static_cast<cuuint32_t>(box[d]);
    if (d + 1 < Rank) bytes[d] = static_cast<cuuint64_t>(strides[d]) * sizeof(T);
  }
  constexpr CUtensorMapDataType kType = std::is_same_v<T, half>       ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                        : std::is_same_v<T, bfloat16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                      : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  TensorMap m;
  const CUresult status =
      encode(&m.map, kType, Rank, const_cast<T*>(data), of_extents, bytes, of_box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
             static_cast<CUtensorMapSwizzle>(swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) throw std::invalid_argument("the driver refuses a tensor map: " + std::to_string(status));
  return m;
}

template <class T>
__device__ __forceinline__ T* box_memory(std::size_t byte_offset = 0) {
  extern __shared__ __align__(1024) unsigned char assay_box_arena[];
  return reinterpret_cast<T*>(assay_box_arena + byte_offset);
}

using Barrier = std::uint64_t;

__device__ __forceinline__ void barrier_init(Barrier* b, int arrivals) {
  ASSAY_SM90A("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(detail::shared_address(b)), "r"(arrivals) : "memory");
}
__device__ __forceinline__ void barriers_ready() {
  ASSAY_SM90A("fence.mbarrier_init.release.cluster;" ::: "memory");
  ASSAY_SM90A("fence.proxy.async.shared::cta;" ::: "memory");
}
__device__ __forceinline__ void barrier_arrive(Barrier* b) {
  ASSAY_SM90A("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(detail::shared_address(b)) : "memory");
}
__device__ __forceinline__ void barrier_arrive_expect(Barrier* b, int bytes) {
  ASSAY_SM90A("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(detail::shared_address(b)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_wait(Barrier* b, int parity) {
  ASSAY_SM90A(
      "{\n.reg .pred over;\n"
      "AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@over bra DONE;\nbra AGAIN;\n"
      "DONE:\n}" ::"r"(detail::shared_address(b)),
      "r"(parity)
      : "memory");
}

__device__ __forceinline__ void prefetch_map(const TensorMap& map) {
  ASSAY_SM90A("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

#define ASSAY_LOAD(rank, list) \
  "cp.async.bulk.tensor." rank ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" list "}], [%2];"
#define ASSAY_COPY_BOX(rank, list, ...)                                                                               \
  ASSAY_SM90A(ASSAY_LOAD(rank, list)::"r"(detail::shared_address(shared)), "l"(&map), "r"(detail::shared_address(b)), \
              __VA_ARGS__                                                                                             \
              : "memory")
template <class T>
__device__ __forceinline__ void copy_box(T* shared, const TensorMap& map, Barrier* b, int x) {
  ASSAY_COPY_BOX("1d", "%3", "r"(x));
}
template <class T>
__device__ __forceinline__ void copy_box(T* shared, const TensorMap& map, Barrier* b, int x, int y) {
  ASSAY_COPY_BOX("2d", "%3, %4", "r"(x), "r"(y));
}
template <class T>
__device__ __forceinline__ void copy_box(T* shared, const TensorMap& map, Barrier* b, int x, int y, int z) {
  ASSAY_COPY_BOX("3d", "%3, %4, %5", "r"(x), "r"(y), "r"(z));
}
template <class T>
__device__ __forceinline__ void copy_box(T* shared, const TensorMap& map, Barrier* b, int x, int y, int z, int u) {
  ASSAY_COPY_BOX("4d", "%3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u));
}
template <class T>
__device__ __forceinline__ void copy_box(T* shared, const TensorMap& map, Barrier* b, int x, int y, int z, int u, int v) {
  ASSAY_COPY_BOX("5d", "%3, %4, %5, %6, %7", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v));
}
#undef ASSAY_COPY_BOX
#undef ASSAY_LOAD

#define ASSAY_STORE(what, rank, list, ...)                                                                                 \
  ASSAY_SM90A("cp." what "async.bulk.tensor." rank ".global.shared::cta" ASSAY_HOW " [%0, {" list "}], [%1];" ::"l"(&map), \
              "r"(detail::shared_address(shared)), __VA_ARGS__                                                             \
              : "memory")
#define ASSAY_STORES(word, what)                                                                                   \
  template <class T>                                                                                               \
  __device__ __forceinline__ void word(const TensorMap& map, const T* shared, int x) {                             \
    ASSAY_STORE(what, "1d", "%2", "r"(x));                                                                         \
  }                                                                                                                \
  template <class T>                                                                                               \
  __device__ __forceinline__ void word(const TensorMap& map, const T* shared, int x, int y) {                      \
    ASSAY_STORE(what, "2d", "%2, %3", "r"(x), "r"(y));                                                             \
  }                                                                                                                \
  template <class T>                                                                                               \
  __device__ __forceinline__ void word(const TensorMap& map, const T* shared, int x, int y, int z) {               \
    ASSAY_STORE(what, "3d", "%2, %3, %4", "r"(x), "r"(y), "r"(z));                                                 \
  }                                                                                                                \
  template <class T>                                                                                               \
  __device__ __forceinline__ void word(const TensorMap& map, const T* shared, int x, int y, int z, int u) {        \
    ASSAY_STORE(what, "4d", "%2, %3, %4, %5", "r"(x), "r"(y), "r"(z), "r"(u));                                     \
  }                                                                                                                \
  template <class T>                                                                                               \
  __device__ __forceinline__ void word(const TensorMap& map, const T* shared, int x, int y, int z, int u, int v) { \
    ASSAY_STORE(what, "5d", "%2, %3, %4, %5, %6", "r"(x), "r"(y), "r"(z), "r"(u), "r"(v));                         \
  }
#define ASSAY_HOW ".tile.bulk_group"
ASSAY_STORES(store_box, "")
#undef ASSAY_HOW
#define ASSAY_HOW ".add.tile.bulk_group"
ASSAY_STORES(add_box, "reduce.")
#undef ASSAY_HOW
#undef ASSAY_STORES
#undef ASSAY_STORE

__device__ __forceinline__ void store_commit() { ASSAY_SM90A("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void store_wait() {
  ASSAY_SM90A("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}
template <int N>
__device__ __forceinline__ void store_wait_read() {
  ASSAY_SM90A("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ void fence_shared_async() { ASSAY_SM90A("fence.proxy.async.shared::cta;" ::: "memory"); }

template <int N>
__device__ __forceinline__ void take_registers() {
  ASSAY_SM90A("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
__device__ __forceinline__ void give_registers() {
  ASSAY_SM90A("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
__device__ __forceinline__ void arrive_named(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ __forceinline__ void keep_order() { asm volatile("" ::: "memory"); }

template <int N, class T>
__device__ __forceinline__ void stmatrix(T* row, const unsigned (&r)[N]) {
  static_assert(sizeof(T) == 2 && (N == 1 || N == 2 || N == 4));
  const unsigned at = detail::shared_address(row);
  if constexpr (N == 1) {
    ASSAY_SM90A("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(r[0]) : "memory");
  } else if constexpr (N == 2) {
    ASSAY_SM90A("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(r[0]), "r"(r[1]) : "memory");
  } else {
    ASSAY_SM90A("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(r[0]), "r"(r[1]), "r"(r[2]),
                "r"(r[3])
                : "memory");
  }
}

}  // namespace assay::on_gpu
