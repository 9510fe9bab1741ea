// SPDX-License-Identifier: Apache-2.0
// Estimates the host memory that a case needs before anything is allocated.  A failed allocation would end the run, and memory
// that the system grants but does not have would end the process.
#pragma once

#include <cstddef>
#include <string>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

namespace assay {

// Bytes for a case and one worker: in the judge the inputs, the outputs of both runs and the golden in f64; in the worker every
// tensor, its image and its maps of touched bytes.  `replayed`: with a second set of inputs and its runs.  Right within a factor
// of two, and never far too small.
double memory_of(const Op&, const Case&, bool replayed = false);

// One clause that says why a case does not fit in `available` bytes; empty if it fits.
std::string too_large(const Op&, const Case&, std::size_t available, bool replayed = false);

}  // namespace assay
