// SPDX-License-Identifier: Apache-2.0
// The fills shared by all ops.
#pragma once

#include "validate/values/fill.hpp"

namespace assay {

std::span<const Fill> common_fills();

// Of the axis that s.holds says: a random index; one in eight is the first or the last.
std::int64_t any_place(const FillSite&, std::int64_t i);
// The last index; the last for the first element, and so on downwards.
std::int64_t last_place(const FillSite&, std::int64_t i);
std::int64_t last_place_first(const FillSite&, std::int64_t i);
// A random multiple of a usual chunk size, 16 to 16384, or the last index.
std::int64_t round_place(const FillSite&, std::int64_t i);

}  // namespace assay
