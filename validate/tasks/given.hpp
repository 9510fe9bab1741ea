// SPDX-License-Identifier: Apache-2.0
// Cases whose tensors were given, in a file or in memory, and not made by a fill: captured ones, or those that `validate inputs`
// wrote for a kernel elsewhere.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "validate/cases/case.hpp"
#include "validate/files/tensor_file.hpp"
#include "validate/problem/image.hpp"

namespace assay {

// Case::fill of tensors whose origin is unknown.  Their rounding errors may all have one sign, and no answer is known to be
// exact.
inline constexpr const char* kGivenFill = "given";

// Keys of metadata besides an op's attributes: the op, the case's repro line, a digest of the tensors that its fill makes, and
// what outputs are.
inline constexpr const char *kOpKey = "op", *kCaseKey = "case", *kDigestKey = "digest", *kValuesKey = "values";

struct Given {
  const Op* op = nullptr;
  Case c{};                         // with the fill, layout and seed that made the tensors, if digest and shapes prove it
  std::vector<Tensor> tensors{};    // in the op's order, row-major: inputs, and initial values of updated outputs; else rank 0
  std::vector<Tensor> outputs{};    // likewise, of a kernel; empty: nobody gave any; rank 0: not that one
  std::string flags{};              // by which a command takes the same tensors: "--inputs in.npz --op softmax"
  std::vector<std::string> unused;  // names in the file that mean nothing to the op
  std::vector<std::shared_ptr<const void>> memory{};
};

struct GivenFlags {
  std::string op;                       // empty: the file says it
  std::vector<std::string> attributes;  // "mask=causal"
};

// The case of tensors with the contract's names.  Axes are their extents; attributes come from the metadata and the flags, which
// must agree.  Integers are not looked at yet: the caller asks Problem::legal().  Throws BadInput.
Given given_case(TensorFile file, const GivenFlags& flags);

// The same tensors and the outputs of a kernel.  At least one output must be there, and of a composite op all.  Throws BadInput.
Given with_outputs(Given given, const TensorFile& outputs);

// Tensors with the case's values, the contract's names, and metadata by which given_case() knows the case.  Throws BadInput.
TensorFile filled_tensors(const Op& op, const Case& c);

// The placements of all tensors, dense; and a problem with the given inputs attached.  Throws BadInput if the contract does not
// allow them, so that nobody reads by an index that is out of range.
std::vector<Placement> places_of(const Given& given);
std::unique_ptr<Problem> problem_of(const Given& given);

}  // namespace assay
