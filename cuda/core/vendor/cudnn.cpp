// SPDX-License-Identifier: Apache-2.0
#include "cuda/core/vendor/cudnn.hpp"

#include "cuda/core/vendor/cudnn_graph.hpp"

namespace assay::vendor::cudnn {

Legality available() { return cudnn_library().available(); }

Legality supports(const Softmax& s) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  if (!s.x.contiguous() || !s.y.contiguous()) return Legality::no("x and y must be contiguous");
  if (s.x.size() > kMost) return Legality::no("at most 2^31 - 1 elements");
  // Note: the library does not document the alignment that it needs; cudaMalloc and every framework give more than this.
  for (const Tensor* t : {&s.x, &s.y})
    if (reinterpret_cast<std::uintptr_t>(t->data) % 16) return Legality::no("x and y must be 16-byte aligned");
  return Legality::yes();
}

void run(const Softmax& s, const Launch& l) {
  if (s.y.size() == 0) return;
  const auto rows = static_cast<int>(s.x.shape[0]), cols = static_cast<int>(s.x.shape[1]);
  const cudnnDataType_t type = s.x.dtype == f16 ? CUDNN_DATA_HALF : s.x.dtype == bf16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
  check(api().cudnnSetStream(handle(), static_cast<cudaStream_t>(l.stream)), "cudnnSetStream");
  cudnnTensorDescriptor_t matrix = nullptr;
  check(api().cudnnCreateTensorDescriptor(&matrix), "cudnnCreateTensorDescriptor");
  const float one = 1, zero = 0;
  cudnnStatus_t status = api().cudnnSetTensor4dDescriptorEx(matrix, type, rows, cols, 1, 1, cols, 1, 1, 1);
  if (status == CUDNN_STATUS_SUCCESS)
    status = api().cudnnSoftmaxForward(handle(), CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE, &one, matrix, s.x.data,
                                       &zero, matrix, s.y.data);
  api().cudnnDestroyTensorDescriptor(matrix);
  check(status, "cudnnSoftmaxForward");
}

}  // namespace assay::vendor::cudnn
