// SPDX-License-Identifier: Apache-2.0
// Bitwise comparison and hashing of tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/core/tensor.hpp"

namespace assay {

// Whether two images hold the same elements, bit for bit; NaNs of any payload are equal.
bool same_elements(const Tensor& a, const Tensor& b);

// Hash of all elements' bits, all NaNs alike: equal for equal outputs on any machine.
std::uint64_t digest(const Tensor& t, std::uint64_t seed);

// Whether every byte between the rows of an image, as far as islands hold it, still has the value `garbage`.
bool gaps_intact(const Tensor& t, std::size_t bytes, std::byte garbage);

}  // namespace assay
