// SPDX-License-Identifier: Apache-2.0
// Names in a file that an op does not have: what looks like a slip is refused, so that no default takes the place of a value that
// somebody wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "validate/files/tensor_file.hpp"
#include "validate/problem/image.hpp"

namespace assay {

// Keys of metadata besides an op's attributes: the op, the case's repro line, a digest of the tensors that its fill makes, and
// what outputs are.
inline constexpr const char *kOpKey = "op", *kCaseKey = "case", *kDigestKey = "digest", *kValuesKey = "values";
inline constexpr const char *kStridesKey = ".strides", *kOffsetKey = ".offset_bytes";  // after a tensor's name: where it was

// The tensor or the attribute of the op that a name in a file may be meant to be; empty: none.  It is near if it is the same but
// for case and underscores, or but for a slip of the pen (edit distance), if it has the whole name as one of its words
// (softmax_scale), or a word of an attribute's choices (is_causal), or if it is an abbreviation (eps).
std::string_view meant(std::string_view name, const Op&);

// Names in the file that mean nothing to the op: "tensor 'step'", "metadata 'run'".  Throws BadInput for a near one that is not
// among `ignored`, and for metadata that has the name of a tensor.
std::vector<std::string> unused_in(const TensorFile&, const Op&, const std::vector<std::string>& ignored);

}  // namespace assay
