// SPDX-License-Identifier: Apache-2.0
// Every function of a launch, a library's too: CUPTI's activity records of kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>

#include "validate/backends/cuda_clock.hpp"
#include "validate/backends/cuda_counters.hpp"
#include "validate/backends/device_figures.hpp"

#if defined(ASSAY_CUPTI)
#include <cuda.h>
#include <cupti_activity.h>
#include <cupti_version.h>

#include "validate/backends/cuda_cupti.hpp"
#endif

namespace assay::cuda {

// Note: the layout of a record is that of one release, and its structure has another name in each.
#if defined(ASSAY_CUPTI) && CUPTI_API_VERSION >= 130000 && CUPTI_API_VERSION < 130100

namespace {

using KernelRecord = CUpti_ActivityKernel10;
using MemsetRecord = CUpti_ActivityMemset4;
constexpr CUpti_ActivityKind kKernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, kMemset = CUPTI_ACTIVITY_KIND_MEMSET;

struct Api {
  ASSAY_FUNCTION(cuptiGetVersion);
  ASSAY_FUNCTION(cuptiActivityRegisterCallbacks);
  ASSAY_FUNCTION(cuptiActivityEnable);
  ASSAY_FUNCTION(cuptiActivityDisable);
  ASSAY_FUNCTION(cuptiActivityFlushAll);
  ASSAY_FUNCTION(cuptiActivityGetNextRecord);
  ASSAY_FUNCTION(cuptiActivityGetNumDroppedRecords);
};

const Api& api() {
  static const Api functions;
  return functions;
}

// What CUPTI's threads hand over.
struct Seen {
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, CalledFunction>> functions;  // with their starts
  CUptiResult fault = CUPTI_SUCCESS;
};

// Note: never destroyed, for CUPTI may hand over a last buffer when the process ends.
Seen& seen() {
  static Seen& all = *new Seen;
  return all;
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  constexpr std::size_t kBytes = std::size_t{1} << 20, kAlignment = 8;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  *bytes = *buffer ? kBytes : 0, *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  {
    const std::lock_guard lock(seen().mutex);
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while (valid > 0 && (result = api().cuptiActivityGetNextRecord(buffer, valid, &record)) == CUPTI_SUCCESS) {
      if (record->kind == kMemset)
        seen().functions.emplace_back(reinterpret_cast<const MemsetRecord*>(record)->start, CalledFunction{"memset", 0});
      if (record->kind != kKernel) continue;
      const auto& k = *reinterpret_cast<const KernelRecord*>(record);
      const std::size_t blocks =
          static_cast<std::size_t>(k.gridX) * static_cast<std::size_t>(k.gridY) * static_cast<std::size_t>(k.gridZ);
      seen().functions.emplace_back(k.start, CalledFunction{short_function_name(k.name ? k.name : "unknown"), blocks});
    }
    if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_MAX_LIMIT_REACHED) seen().fault = result;
  }
  std::free(buffer);
}

void prepare_trace() {
  std::uint32_t version = 0;
  check(api().cuptiGetVersion(&version), "its version");
  if (version / 100 != CUPTI_API_VERSION / 100)
    throw std::runtime_error(
        fmt::format("CUPTI {} was found, and this build reads the records of {}", version, CUPTI_API_VERSION));
  check(api().cuptiActivityRegisterCallbacks(give_buffer, take_buffer), "buffers for its records");
}

}  // namespace

std::vector<CalledFunction> traced(const std::function<void()>& work) {
  static const bool prepared = (prepare_trace(), true);
  static_cast<void>(prepared);
  check(cudaDeviceSynchronize(), "before a trace");
  {
    const std::lock_guard lock(seen().mutex);
    seen().functions.clear(), seen().fault = CUPTI_SUCCESS;
  }
  struct Enabled {
    bool still = true;
    void end() {
      still = false;
      for (const CUpti_ActivityKind kind : {kKernel, kMemset}) check(api().cuptiActivityDisable(kind), "ending a trace");
    }
    ~Enabled() {
      if (still)
        for (const CUpti_ActivityKind kind : {kKernel, kMemset}) api().cuptiActivityDisable(kind);
    }
  } enabled;
  for (const CUpti_ActivityKind kind : {kKernel, kMemset}) check(api().cuptiActivityEnable(kind), "starting a trace");
  work();
  check(cudaDeviceSynchronize(), "tracing");
  enabled.end();
  check(api().cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "the records of a trace");
  std::size_t dropped = 0;
  check(api().cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), "the number of records lost");
  const std::lock_guard lock(seen().mutex);
  check(seen().fault, "reading a trace");
  if (dropped) throw std::runtime_error(fmt::format("CUPTI lost {} records", dropped));
  if (seen().functions.empty()) throw std::runtime_error("CUPTI recorded no function of the launch");
  auto& functions = seen().functions;
  std::stable_sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<CalledFunction> all;
  for (auto& [start, function] : functions) all.push_back(std::move(function));
  return all;
}

#else

std::vector<CalledFunction> traced(const std::function<void()>&) {
  throw std::runtime_error("this build reads no records of CUPTI: the headers of CUDA 13.0 were not found");
}

#endif

}  // namespace assay::cuda
