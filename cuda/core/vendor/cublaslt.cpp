// SPDX-License-Identifier: Apache-2.0
// cuBLASLt is column-major: it takes a row-major [r, c] for a [c, r].  So the call is yᵀ = w·xᵀ, with A = w, read transposed
// unless `as_it_is`, and B = x.
#include "cuda/core/vendor/cublaslt.hpp"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/core/vendor/library.hpp"

namespace assay::vendor::cublaslt {

namespace {

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(static_cast<int>(status)));
}
void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(status));
}

#define ASSAY_FUNCTION(name) decltype(&::name) name = cublaslt_library().function<std::remove_pointer_t<decltype(&::name)>>(#name)
struct Functions {
  ASSAY_FUNCTION(cublasLtCreate);
  ASSAY_FUNCTION(cublasLtMatmul);
  ASSAY_FUNCTION(cublasLtMatmulAlgoGetHeuristic);
  ASSAY_FUNCTION(cublasLtMatmulDescCreate);
  ASSAY_FUNCTION(cublasLtMatmulDescSetAttribute);
  ASSAY_FUNCTION(cublasLtMatrixLayoutCreate);
  ASSAY_FUNCTION(cublasLtMatrixLayoutSetAttribute);
  ASSAY_FUNCTION(cublasLtMatmulPreferenceCreate);
  ASSAY_FUNCTION(cublasLtMatmulPreferenceSetAttribute);
  ASSAY_FUNCTION(cublasLtMatmulPreferenceDestroy);
};
#undef ASSAY_FUNCTION
const Functions& lt() {
  static const Functions functions;
  return functions;
}

cublasLtHandle_t handle() {
  static const cublasLtHandle_t made = [] {
    cublasLtHandle_t h = nullptr;
    check(lt().cublasLtCreate(&h), "cublasLtCreate");
    return h;
  }();
  return made;
}

cudaDataType_t type_of(DType t) { return t == f16 ? CUDA_R_16F : t == bf16 ? CUDA_R_16BF : CUDA_R_32F; }

// The alignment that an algorithm may assume: the largest power of two, up to 256, that divides all addresses of a batch.
std::uint32_t alignment(const Tensor& t, std::int64_t step = 0) {
  const auto at = reinterpret_cast<std::uintptr_t>(t.data) | static_cast<std::uintptr_t>(step * size_of(t.dtype)) | 256;
  return static_cast<std::uint32_t>(at & -at);
}
std::int64_t leading(const Tensor& t) { return std::max(t.stride[0], t.shape[1]); }

// What the library made for one shape.  It lives as long as the process.
struct Plan {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t w = nullptr, x = nullptr, y = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> algorithms;
  int fastest = -1;  // index of an algorithm; -1: not timed yet
};

void set_bias(const Plan& plan, const Matmul& m) {
  const void* const bias = m.bias.data;
  if (bias)
    check(lt().cublasLtMatmulDescSetAttribute(plan.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
          "bias pointer");
}

Plan make_plan(const Matmul& m) {
  Plan plan;
  const std::int64_t rows = m.y.shape[0], out = m.y.shape[1], inner = m.x.shape[1];
  const cudaDataType_t type = type_of(m.x.dtype);
  check(lt().cublasLtMatmulDescCreate(&plan.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F), "cublasLtMatmulDescCreate");
  const auto set = [&](cublasLtMatmulDescAttributes_t what, auto value) {
    check(lt().cublasLtMatmulDescSetAttribute(plan.operation, what, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, m.as_it_is ? CUBLAS_OP_N : CUBLAS_OP_T);
  int epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  if (m.bias.data) epilogue = CUBLASLT_EPILOGUE_BIAS;
  if (m.activation == Activation::gelu_tanh) epilogue = m.bias.data ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<cublasLtEpilogue_t>(epilogue));
  set_bias(plan, m);  // Note: the heuristics take its alignment from the pointer
  const auto layout = [&](cublasLtMatrixLayout_t* to, std::int64_t columns, std::int64_t r, const Tensor& t, std::int64_t step) {
    check(
        lt().cublasLtMatrixLayoutCreate(to, type, static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(r), leading(t)),
        "cublasLtMatrixLayoutCreate");
    if (m.batch.count == 1) return;
    const auto count = static_cast<std::int32_t>(m.batch.count);
    check(lt().cublasLtMatrixLayoutSetAttribute(*to, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count), "batch count");
    check(lt().cublasLtMatrixLayoutSetAttribute(*to, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, sizeof step),
          "batch offset");
  };
  layout(&plan.w, m.as_it_is ? out : inner, m.as_it_is ? inner : out, m.w, m.batch.w);
  layout(&plan.x, inner, rows, m.x, m.batch.x);
  layout(&plan.y, out, rows, m.y, m.batch.y);

  cublasLtMatmulPreference_t preference = nullptr;
  check(lt().cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
    check(lt().cublasLtMatmulPreferenceSetAttribute(preference, what, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMostWorkspace);
  // Note: the other schemes add partial sums of a split k in the output's type, which the declared numerics do not allow.
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(m.w, m.batch.w));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(m.x, m.batch.x));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(m.y, m.batch.y));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(m.y, m.batch.y));
  constexpr int kMostAlgorithms = 8;
  plan.algorithms.resize(kMostAlgorithms);
  int found = 0;
  const cublasStatus_t status = lt().cublasLtMatmulAlgoGetHeuristic(handle(), plan.operation, plan.w, plan.x, plan.y, plan.y,
                                                                    preference, kMostAlgorithms, plan.algorithms.data(), &found);
  lt().cublasLtMatmulPreferenceDestroy(preference);
  if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED && status != CUBLAS_STATUS_INVALID_VALUE)
    check(status, "cublasLtMatmulAlgoGetHeuristic");
  plan.algorithms.resize(static_cast<std::size_t>(status == CUBLAS_STATUS_SUCCESS ? found : 0));
  std::erase_if(plan.algorithms, [](const auto& a) { return a.state != CUBLAS_STATUS_SUCCESS; });
  return plan;
}

Plan& plan_of(const Matmul& m) {
  using Key = std::array<std::int64_t, 17>;
  static std::map<Key, Plan> plans;
  const Key key{static_cast<std::int64_t>(m.x.dtype),
                m.y.shape[0],
                m.y.shape[1],
                m.x.shape[1],
                leading(m.x),
                leading(m.w),
                leading(m.y),
                alignment(m.x, m.batch.x),
                alignment(m.w, m.batch.w),
                alignment(m.y, m.batch.y),
                m.bias.data ? alignment(m.bias) : 0,
                static_cast<std::int64_t>(m.activation),
                m.as_it_is,
                m.batch.count,
                m.batch.x,
                m.batch.w,
                m.batch.y};
  const auto at = plans.find(key);
  return at != plans.end() ? at->second : plans.emplace(key, make_plan(m)).first->second;
}

cublasStatus_t launch(const Plan& plan, std::size_t algorithm, const Matmul& m, const Launch& l) {
  const float zero = 0;
  const auto& a = plan.algorithms[algorithm];
  return lt().cublasLtMatmul(handle(), plan.operation, &m.scale, m.w.data, plan.w, m.x.data, plan.x, &zero, m.y.data, plan.y,
                             m.y.data, plan.y, &a.algo, a.workspaceSize ? l.workspace : nullptr, a.workspaceSize,
                             static_cast<cudaStream_t>(l.stream));
}

// Whether ASSAY_CUBLASLT=first asks for the heuristics' first choice, which PyTorch takes too: for timing the same call in both.
bool first_choice() {
  const char* const asked = std::getenv("ASSAY_CUBLASLT");
  if (asked && std::string_view(asked) != "first")
    throw std::runtime_error("ASSAY_CUBLASLT is '" + std::string(asked) + "'; what it may be is 'first'");
  return asked;
}

// Returns the algorithm with the shortest of three times each, measured after one launch that loads it.
int fastest_of(const Plan& plan, const Matmul& m, const Launch& l) {
  const auto stream = static_cast<cudaStream_t>(l.stream);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  int fastest = -1;
  float least = 0;
  for (std::size_t i = 0; i < plan.algorithms.size(); ++i) {
    if (launch(plan, i, m, l) != CUBLAS_STATUS_SUCCESS) continue;
    for (int again = 0; again < 3; ++again) {
      float ms = 0;
      check(cudaEventRecord(begin, stream), "cudaEventRecord");
      check(launch(plan, i, m, l), "cublasLtMatmul");
      check(cudaEventRecord(end, stream), "cudaEventRecord");
      check(cudaEventSynchronize(end), "timing an algorithm");
      check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
      if (fastest < 0 || ms < least) {
        fastest = static_cast<int>(i);
        least = ms;
      }
    }
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  if (fastest < 0) throw std::runtime_error("cuBLASLt ran none of the algorithms that it proposed");
  return fastest;
}

}  // namespace

Legality available() { return cublaslt_library().available(); }

Legality supports(const Matmul& m) {
  if (!m.x.rows_contiguous() || !m.w.rows_contiguous() || !m.y.rows_contiguous() || !m.bias.rows_contiguous())
    return Legality::no("rows must be contiguous");
  if (m.y.size() == 0) return Legality::yes();
  return plan_of(m).algorithms.empty() ? Legality::no("cuBLASLt has no algorithm for this shape and alignment") : Legality::yes();
}

std::size_t workspace_bytes(const Matmul& m) {
  std::size_t most = 0;
  if (m.y.size())
    for (const auto& a : plan_of(m).algorithms) most = std::max(most, a.workspaceSize);
  return most;
}

void run(const Matmul& m, const Launch& l) {
  if (m.y.size() == 0) return;
  Plan& plan = plan_of(m);
  if (plan.algorithms.empty()) throw std::runtime_error("cuBLASLt has no algorithm for this shape and alignment");
  set_bias(plan, m);
  if (plan.fastest < 0 && !first_choice()) {
    cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(static_cast<cudaStream_t>(l.stream), &capturing), "cudaStreamIsCapturing");
    if (capturing == cudaStreamCaptureStatusNone) plan.fastest = fastest_of(plan, m, l);
  }
  check(launch(plan, static_cast<std::size_t>(std::max(plan.fastest, 0)), m, l), "cublasLtMatmul");
}

}  // namespace assay::vendor::cublaslt
