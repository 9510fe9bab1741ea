// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/cuda_cupti.hpp"

#if defined(ASSAY_CUPTI)
#include <dlfcn.h>
#include <fmt/format.h>

#include <stdexcept>
#include <string>

namespace assay::cuda {

const vendor::Library& cupti() {
  static const vendor::Library library("CUPTI", {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}, nullptr);
  // Note: CUPTI looks for libnvperf_host in the system's folders only, so this loads the one beside it, of the same version.
  static const bool beside = [] {
    Dl_info info{};
    if (!library.available() || !::dladdr(reinterpret_cast<void*>(library.function<void()>("cuptiGetVersion")), &info))
      return false;
    const std::string path = info.dli_fname;
    return ::dlopen((path.substr(0, path.rfind('/') + 1) + "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr;
  }();
  static_cast<void>(beside);
  return library;
}

void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES || result == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
    throw std::runtime_error(
        "the driver shows its counters to the administrator alone (ERR_NVGPUCTRPERM; option "
        "NVreg_RestrictProfilingToAdminUsers)");
  struct Words {
    ASSAY_FUNCTION(cuptiGetResultString);
  };
  static const Words words;
  const char* text = nullptr;
  if (words.cuptiGetResultString(result, &text) != CUPTI_SUCCESS || !text) text = "unknown error";
  throw std::runtime_error(fmt::format("CUPTI, {}: {} ({})", what, text, static_cast<int>(result)));
}

}  // namespace assay::cuda
#endif
