// SPDX-License-Identifier: Apache-2.0
// What the device itself says of a kernel: its bytes of device memory, and what its functions take of a multiprocessor.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "validate/problem/op.hpp"
#include "validate/worker/clock.hpp"

namespace assay {

// What is wrong with the counters if a copy of so many bytes moved this, as a sentence; empty: it agrees within 3 %.
std::string dram_copy_fault(const DramBytes& moved, double bytes);
// "DRAM 805.4 MB, 1.000 of the formula; 40.1 % less than unfused, 40.0 % by the formula".  `unfused`: what unfused moved;
// nullptr: nobody counted it, or this is it.
std::string dram_text(const DramBytes& moved, std::string_view kernel, const Cost& cost, const DramBytes* unfused);
// "rows::norm<__half, 8>: 40 registers, 0 + 1024 B shared, 256 threads x 4096 blocks, 6 on a multiprocessor: occupancy 75 %"
std::string resources_text(const LaunchedFunction& f);

nlohmann::ordered_json json_of(const DramBytes& d);
nlohmann::ordered_json json_of(const std::vector<LaunchedFunction>& functions);
// The other way round.  They throw where the fields are not those.
DramBytes dram_from(const nlohmann::ordered_json& j);
std::vector<LaunchedFunction> functions_from(const nlohmann::ordered_json& j);

}  // namespace assay
