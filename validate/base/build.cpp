// SPDX-License-Identifier: Apache-2.0
#include "validate/base/build.hpp"

#include <fmt/format.h>

namespace assay {

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string build_text() { return fmt::format("Assay {}, {}", ASSAY_VERSION, compiler_text()); }

}  // namespace assay
