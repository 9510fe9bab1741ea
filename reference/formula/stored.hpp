// SPDX-License-Identifier: Apache-2.0
// Steps of a formula that kernels may store, and by which of their words they do.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/core/contract.hpp"

namespace assay::formula {

// Which kernels may round a step's result to the storage dtype before the next step: by which of their words.
enum class Stored : std::uint8_t {
  with_intermediates,    // stores_intermediate
  with_every_step,       // stores_every_step
  where_rotated,         // rounds_rotated
  as_factor,             // before it is multiplied: stores_intermediate, or narrow_probabilities
  as_gradient,           // the same, but not with scaled_gradients
  as_scaled_gradient,    // the same, but only with scaled_gradients
  with_rounded_weights,  // rounds_weights
  by_no_word             // of `either` alone: any kernel may compute the second way, and none says so
};
inline constexpr std::array<std::string_view, 8> kStoredNames{
    "with_intermediates", "with_every_step",    "where_rotated",        "as_factor",
    "as_gradient",        "as_scaled_gradient", "with_rounded_weights", "by_no_word"};

// Whether kernels of these numerics store such a step.
constexpr bool stores(const Numerics& numerics, Stored stored) {
  const bool as_factor = numerics.stores_intermediate || numerics.narrow_probabilities;
  switch (stored) {
    case Stored::with_intermediates: return numerics.stores_intermediate;
    case Stored::with_every_step: return numerics.stores_every_step;
    case Stored::where_rotated: return numerics.rounds_rotated;
    case Stored::as_factor: return as_factor;
    case Stored::as_gradient: return as_factor && !numerics.scaled_gradients;
    case Stored::as_scaled_gradient: return as_factor && numerics.scaled_gradients;
    case Stored::with_rounded_weights: return numerics.rounds_weights;
    case Stored::by_no_word: return false;
  }
  return false;
}

// The words that stores() reads.
inline std::vector<bool Numerics::*> words_of(Stored stored) {
  using N = Numerics;
  switch (stored) {
    case Stored::with_intermediates: return {&N::stores_intermediate};
    case Stored::with_every_step: return {&N::stores_every_step};
    case Stored::where_rotated: return {&N::rounds_rotated};
    case Stored::as_factor: return {&N::stores_intermediate, &N::narrow_probabilities};
    case Stored::as_gradient:
    case Stored::as_scaled_gradient: return {&N::stores_intermediate, &N::narrow_probabilities, &N::scaled_gradients};
    case Stored::with_rounded_weights: return {&N::rounds_weights};
    case Stored::by_no_word: return {};
  }
  return {};
}

}  // namespace assay::formula
