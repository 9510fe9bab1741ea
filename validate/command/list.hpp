// SPDX-License-Identifier: Apache-2.0
// Text that list, describe and doctor share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "validate/problem/op.hpp"

namespace assay {

std::string idea_of(std::string_view about);  // the first sentence of a head comment, on one line
std::string dtypes_text(const DTypes& set);   // "f16 bf16"
std::string shown_name(const Kernel& k);      // "naive"; "broken/no_max" for a broken kernel
void show_set(const std::string& set);        // its kernels take the place of those that are built in, unless it is empty
void print_json(const nlohmann::ordered_json& j);

}  // namespace assay
