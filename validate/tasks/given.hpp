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
#include "validate/tasks/given_names.hpp"

namespace assay {

// Case::fill of tensors whose origin is unknown.  Their rounding errors may all have one sign, and no answer is known to be
// exact.
inline constexpr const char* kGivenFill = "given";

struct Task;

struct Given {
  const Op* op = nullptr;
  Case c{};                         // with the fill, layout and seed that made the tensors, if digest and shapes prove it
  std::vector<Tensor> tensors{};    // in the op's order, row-major: inputs, and initial values of updated outputs; else rank 0
  std::vector<Tensor> outputs{};    // likewise, of a kernel; empty: nobody gave any; rank 0: not that one
  std::string flags{};              // by which a command takes the same tensors: "--inputs in.npz --op softmax"
  std::vector<std::string> unused;  // in the files, without meaning to the op: "tensor 'step'"
  std::vector<std::string> names;   // of all tensors and metadata of the files
  std::vector<std::shared_ptr<const void>> memory{};
};

struct GivenFlags {
  std::string op;                         // empty: the file says it
  std::vector<std::string> attributes{};  // "mask=causal"
  std::vector<std::string> layouts{};     // "q=bhsd": in which order a tensor's axes lie (validate/tasks/given_axes.hpp)
  std::vector<std::string> ignored{};     // names in the files that are near one of the op's, and mean nothing to it
};

// The case of tensors with the contract's names.  Axes are their extents; attributes come from the metadata, from tensors of one
// element and from the flags, which must agree.  Integers are not looked at yet: the caller asks Problem::legal().  Throws
// BadInput, also for a name that the op does not have and that is near one of its names.
Given given_case(TensorFile file, const GivenFlags& flags);

// The same tensors and the outputs of a kernel.  At least one output must be there, and of a composite op all.  Throws BadInput.
Given with_outputs(Given given, TensorFile outputs, const GivenFlags& flags = {});

// Throws BadInput if a flag names a tensor that is in no file: `names` are those of all files.
void require_flags_used(const GivenFlags& flags, const std::vector<std::string>& names);

// Tensors with the case's values, the contract's names, and metadata by which given_case() knows the case.  Throws BadInput.
TensorFile filled_tensors(const Op& op, const Case& c);

// The placements of all tensors, dense; and a problem with the given inputs attached.  Throws BadInput if the contract does not
// allow them, so that nobody reads by an index that is out of range.
std::vector<Placement> places_of(const Given& given);
std::unique_ptr<Problem> problem_of(const Given& given);

// The fill of a task's case; of given tensors, what is known of them.
const Fill& fill_of(const Task&);
// Writes the values of an input or of an updated output: of the case's fill, or those that were given.
void make_image(const Task&, std::size_t tensor, const Placement&, std::byte* image);

}  // namespace assay
