// SPDX-License-Identifier: Apache-2.0
#include "cuda/core/vendor/library.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace assay::vendor {

namespace {

// The folders to search, each with its slash; "" stands for the system's search path.
std::vector<std::string> folders() {
  std::vector<std::string> all;
  if (const char* named = std::getenv("ASSAY_VENDOR_PATH")) {
    std::istringstream list(named);
    for (std::string folder; std::getline(list, folder, ':');)
      if (!folder.empty()) all.push_back(folder + "/");
  }
  all.emplace_back();
  all.emplace_back("/usr/local/cuda/lib64/");
  all.emplace_back("/usr/local/cuda/extras/CUPTI/lib64/");
  return all;
}

}  // namespace

Library::Library(std::string name, std::initializer_list<const char*> files, const char* version) : name_(std::move(name)) {
  for (const std::string& folder : folders())
    for (const char* file : files) {
      if (handle_) break;
      ::dlerror();
      handle_ = ::dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_) path_ = folder + file;
      // The error of a file that exists but cannot be opened says more than that of one that is missing.
      else if (const char* why = ::dlerror();
               why && (missing_.empty() || std::string(why).find("No such file") == std::string::npos))
        missing_ = why;
    }
  if (!handle_ || !version) return;
  try {
    const std::size_t number = function<std::size_t()>(version)();
    version_ = std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." + std::to_string(number % 100);
  } catch (const std::runtime_error& e) {
    missing_ = e.what();
    handle_ = nullptr;
  }
}

void* Library::find(const char* symbol) const {
  void* const found = handle_ ? ::dlsym(handle_, symbol) : nullptr;
  if (!found) throw std::runtime_error(handle_ ? path_ + " has no " + symbol : available().why);
  return found;
}

const Library& cublaslt_library() {
  static const Library library("cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so"}, "cublasLtGetVersion");
  return library;
}

const Library& cudnn_library() {
  static const Library library("cuDNN", {"libcudnn.so.9"}, "cudnnGetVersion");
  return library;
}

}  // namespace assay::vendor
