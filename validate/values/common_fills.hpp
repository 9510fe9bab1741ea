// SPDX-License-Identifier: Apache-2.0
// The fills that every op has.
#pragma once

#include "validate/values/fill.hpp"

namespace assay {

std::span<const Fill> common_fills();

// One of 0 ... places - 1; of eight, one is an end.
std::int64_t any_place(const FillSite&, std::int64_t i);

}  // namespace assay
