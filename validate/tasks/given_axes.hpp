// SPDX-License-Identifier: Apache-2.0
// Axes of tensors in files: known by the contract's order, or by another that a user names.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/files/tensor_file.hpp"
#include "validate/problem/image.hpp"

namespace assay {

// "[batch, seq_q, heads, head_dim]"
std::string axes_text(const TensorSpec&);

// Puts the axes of each tensor that a flag names into the contract's order, in memory of the file's own.  A flag is NAME=AXES,
// and AXES are the axes as they lie in the file: by their names, "q=batch,heads,seq_q,head_dim", or by a letter each that begins
// a word of their names, "q=bhsd".  Throws BadInput.
void put_axes_in_order(TensorFile&, const Op&, const std::vector<std::string>& layouts);

// A tensor of a file, and what the contract says of it.
struct NamedTensor {
  const FileTensor* tensor;
  const TensorSpec* spec;
};

// Takes the extents of tensors for the axes of the case, with which they must agree, and checks the case.  Throws BadInput: where
// another order of axes would fit, the sentence names it.
void read_axes(const Op&, const std::vector<NamedTensor>&, Case&);

// " --layout o=batch,heads,seq_q,head_dim" if the shape has the expected extents in one other order only; else empty.
std::string layout_that_fits(const TensorSpec&, const std::vector<std::int64_t>& shape,
                             const std::vector<std::int64_t>& expected);

}  // namespace assay
