// SPDX-License-Identifier: Apache-2.0
// The fills shared by all ops.
#pragma once

#include "validate/values/fill.hpp"

namespace assay {

std::span<const Fill> common_fills();

// A random index 0 ... s.index_extent - 1; one in eight is the first or the last.
std::int64_t any_place(const FillSite&, std::int64_t i);
// A random multiple of a usual chunk size, 16 to 16384, or the last index.
std::int64_t round_place(const FillSite&, std::int64_t i);

}  // namespace assay
