// SPDX-License-Identifier: Apache-2.0
// What a contract says of an input's elements (ops/core/contents.hpp), as the judge uses it: it draws such elements and refuses
// others.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

// Throws if a range ends at a number that some dtype does not hold, or integers are of no known kind.
void check_contents(const Op&);

// Checks them, and adds to the op's fills those of values N(0, 1) whose integers are those at which kernels fail, by what its
// tensors hold.
void add_contents(Op&);

// Whether the elements of these tensors, in host memory, are what the contract says.  Tensors without data are not looked at.
Legality contents_legal(std::span<const TensorSpec>, std::span<const Tensor* const>);

// In words, such as "places on vocab"; empty: any numbers.
std::string text_of(const Contents&);

// Whether a float input of the case is restricted to a range: then its values need not be as likely as their negatives.
bool has_ranges(const Op&, const Case&);

// A number of any size as one of `range`: folded at its ends, so that small ones keep their distance from zero where that is
// within; NaN becomes the least.
double folded(const Contents& range, double v);

// Element i of a tensor of integers.
std::int64_t drawn(const Fill&, const FillSite&, std::int64_t i);

// The rows (all axes but the last) of an input that lie in pages which no sequence uses.  Empty: the input is in no pages.
std::vector<bool> unused_rows(const Op&, const TensorSpec&, const Fill&, const FillSite&);

// The values, row-major, of a tensor that holds another op's output: of its golden for the case's inputs of the same names.
std::vector<double> output_of_another(const Op&, const Case&, std::string_view tensor);
// Bytes that this takes; 0 if no tensor holds one.
double memory_of_another(const Op&, const Case&);

}  // namespace assay
