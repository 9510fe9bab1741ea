// SPDX-License-Identifier: Apache-2.0
// A vendor's library, opened at run time: nothing of it is linked, and where it is missing only the baselines that call it are.
// Looked for in the folders of ASSAY_VENDOR_PATH (one or several, with colons between), then where the system looks, then in
// /usr/local/cuda/lib64 and in CUPTI's folder beside it.
#pragma once

#include <initializer_list>
#include <string>

#include "ops/core/contract.hpp"

namespace assay::vendor {

class Library {
 public:
  // `files`: its names, the best first.  `version`: a function of it that takes nothing and gives 10000·major + 100·minor +
  // patch; nullptr: it is not asked.
  Library(std::string name, std::initializer_list<const char*> files, const char* version);

  const std::string& name() const { return name_; }
  Legality available() const { return handle_ ? Legality::yes() : Legality::no(name_ + " is missing: " + missing_); }
  const std::string& missing() const { return missing_; }  // why, where it is
  const std::string& version() const { return version_; }  // "13.1.0"; empty where it is missing
  const std::string& path() const { return path_; }        // of the file that was opened

  // A function of the library.  Throws std::runtime_error where it has none of that name.
  template <class F>
  F* function(const char* symbol) const {
    return reinterpret_cast<F*>(find(symbol));
  }

 private:
  void* find(const char* symbol) const;
  std::string name_, version_, path_, missing_;
  void* handle_ = nullptr;  // never closed: its threads and its memory outlive everybody
};

// Opened when first asked for.
const Library& cublaslt_library();
const Library& cudnn_library();

}  // namespace assay::vendor
