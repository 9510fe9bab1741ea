// SPDX-License-Identifier: Apache-2.0
// The problems that relations make of another problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validate/problem/packing.hpp"
#include "validate/problem/relation.hpp"

namespace assay {

// Of a case, those that apply by its extents: all; or of one case in four, one, chosen by its seed.
std::vector<std::string> relations_of(const Op&, const Case&, Relations which);
const Relation* find_relation(const Op&, std::string_view name);

// The related problem's case.
Case related_case(const Relation&, const Case&);
// Row-major index in the original tensor of what the related tensor has at index i.
std::int64_t source_of(const Relation&, const Dims& from, const Dims& to, std::span<const Axis> axes, std::int64_t i);

// The other problem: its case, where its tensors lie, and its inputs' images.
struct Related {
  Case c;
  std::vector<std::byte> inputs;  // as `pack(op, c)` has them
};
// None where some input would not be what the relation says, since its dtype has no such value.  `outputs`: of the kernel, for
// relations that lead back.
std::optional<Related> relate(const Op&, const Case&, const Relation&, const Packing&, const std::byte* inputs,
                              const std::byte* outputs);

}  // namespace assay
