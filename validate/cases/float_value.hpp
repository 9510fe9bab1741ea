// SPDX-License-Identifier: Apache-2.0
// Numbers that were typed or lie in files, and that kernels compute with as floats.
#pragma once

#include <cmath>
#include <string_view>

namespace assay {

// Why a number is none that a kernel can take, as a clause: it is not finite, or as a float it would be infinite, or 0 though it
// is not 0.  Empty: it is one.
inline std::string_view no_float(double v) {
  const auto rounded = static_cast<float>(v);
  if (!std::isfinite(v)) return "not finite";
  if (!std::isfinite(rounded)) return "too large for a float, with which kernels compute";
  return rounded == 0 && v != 0 ? "too small for a float, with which kernels compute" : "";
}

}  // namespace assay
