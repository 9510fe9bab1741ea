// SPDX-License-Identifier: Apache-2.0
// A vendor's library, opened at run time and not linked; without it, only the baselines that call it are unavailable.
// It is searched for in the folders of ASSAY_VENDOR_PATH (separated by colons), then in the system's search path, then in
// /usr/local/cuda/lib64 and in CUPTI's folder below /usr/local/cuda/extras.
#pragma once

#include <initializer_list>
#include <string>

#include "ops/core/contract.hpp"

namespace assay::vendor {

class Library {
 public:
  // `files`: its file names, the best first.  `version`: the name of its function that takes nothing and returns 10000·major +
  // 100·minor + patch; nullptr if it has none.
  Library(std::string name, std::initializer_list<const char*> files, const char* version);

  const std::string& name() const { return name_; }
  Legality available() const { return handle_ ? Legality::yes() : Legality::no(name_ + " is missing: " + missing_); }
  const std::string& missing() const { return missing_; }  // why it is missing, if it is
  const std::string& version() const { return version_; }  // "13.1.0"; empty if it is missing
  const std::string& path() const { return path_; }        // of the file that was opened

  // A function of the library.  Throws std::runtime_error if the library is missing or has no such function.
  template <class F>
  F* function(const char* symbol) const {
    return reinterpret_cast<F*>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;
  std::string name_, version_, path_, missing_;
  void* handle_ = nullptr;  // never closed, since the library's threads and memory live as long as the process
};

// Both are opened at the first call.
const Library& cublaslt_library();
const Library& cudnn_library();

}  // namespace assay::vendor
