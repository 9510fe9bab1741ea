// SPDX-License-Identifier: Apache-2.0
// Figures that a device gives, made readable.
#pragma once

#include <string>

#include "validate/worker/traffic.hpp"

namespace assay {

// One launch's part of what `launches` of them moved, each with a flush of the cache after it, where `flushes` flushes alone
// moved `of_flushes`.
DramBytes dram_of_launch(const DramBytes& whole, int launches, const DramBytes& of_flushes, int flushes);
// How often to launch what takes so long: noise averages out, and nobody waits.
int dram_rounds(double about_s);
// "assay::on_gpu::rows_room::norm::run<__half>(int)", mangled or not, as "rows_room::norm::run<__half>".
std::string short_function_name(const char* symbol);

}  // namespace assay
