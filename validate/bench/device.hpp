// SPDX-License-Identifier: Apache-2.0
// Text and JSON of a kernel's figures by the device: DRAM bytes, and registers, shared memory and occupancy of its functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "validate/problem/op.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

// Checks the DRAM counters against a copy of `bytes` bytes.  Returns a sentence if they disagree by more than 3 %, else "".
std::string dram_copy_fault(const DramBytes& moved, double bytes);
// "DRAM 805.40 MB (536.94 read, 268.46 written), 1.000 of the formula; 40.1 % less than unfused, 40.0 % by the formula".
// `unfused`: the bytes that unfused moved; nullptr if it was not counted or `kernel` is unfused.
std::string dram_text(const DramBytes& moved, std::string_view kernel, const Cost& cost, const DramBytes* unfused);
// "rows::norm<__half, 8>: 40 registers, 0 + 1024 B shared, 256 threads x 4096 blocks, 6 on a multiprocessor: occupancy 75 %"
std::string resources_text(const LaunchedFunction& f);

nlohmann::ordered_json json_of(const DramBytes& d);
nlohmann::ordered_json json_of(const std::vector<LaunchedFunction>& functions);
// The reverse of json_of.  They throw BadInput if a field is missing or has another type.
DramBytes dram_from(const nlohmann::ordered_json& j);
std::vector<LaunchedFunction> functions_from(const nlohmann::ordered_json& j);

}  // namespace assay
