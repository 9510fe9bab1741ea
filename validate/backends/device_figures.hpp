// SPDX-License-Identifier: Apache-2.0
// Makes figures and names from a GPU readable.  Needs no CUDA.
#pragma once

#include <string>

#include "validate/worker/traffic.hpp"

namespace assay {

// Bytes of one launch.  `whole`: those of `launches` launches with a flush of the cache after each.  `of_flushes`: those of
// `flushes` flushes alone, which are subtracted.
DramBytes dram_of_launch(const DramBytes& whole, int launches, const DramBytes& of_flushes, int flushes);
// How many launches to count: 2 to 16, for about 0.05 s in all.
int dram_rounds(double about_s);
// Makes "rows_room::norm::run<__half>" of "assay::on_gpu::rows_room::norm::run<__half>(int)", mangled or not.
std::string short_function_name(const char* symbol);

}  // namespace assay
