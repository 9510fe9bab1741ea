// SPDX-License-Identifier: Apache-2.0
// What a case needs of this machine's memory, told before anything is allocated: an allocation that fails late ends a run,
// and one that the system grants and cannot keep ends the process.
#pragma once

#include <cstddef>
#include <string>

#include "validate/cases/case.hpp"
#include "validate/problem/op.hpp"

namespace assay {

// Bytes of a case with one worker on it: in the judge the inputs, both runs' outputs and the golden in f64; in the worker
// every tensor, its image and its maps of touched bytes.  `replayed`: with a second set of inputs.  An estimate: right within a
// factor of two, never far too small.
double memory_of(const Op&, const Case&, bool replayed = false);

// Why a case does not fit, as a sentence; empty: it fits.
std::string too_large(const Op&, const Case&, std::size_t available, bool replayed = false);

}  // namespace assay
