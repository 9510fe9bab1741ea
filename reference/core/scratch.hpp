// SPDX-License-Identifier: Apache-2.0
// Counts what goldens take besides their arrays: f64 values that are freed when the golden is done.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

#include "ops/core/rows.hpp"

namespace assay::reference {

// How many threads work on so many parts at a time.
inline std::int64_t threads_on(std::int64_t parts) { return std::min<std::int64_t>(omp_get_max_threads(), parts); }

inline double bytes_of(double values) { return 8 * values; }

// Bytes of a loop over rows in which each thread has this many values.
inline double scratch_of_rows(const Rows& rows, double values) {
  return bytes_of(static_cast<double>(threads_on(rows.count())) * values);
}

}  // namespace assay::reference
