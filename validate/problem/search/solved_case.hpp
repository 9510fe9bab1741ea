// SPDX-License-Identifier: Apache-2.0
// Small cases with their answers, on which relations of an op are tried.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validate/problem/relate.hpp"

namespace assay {

inline constexpr std::int64_t kSmallExtents[] = {4, 6, 8, 16, 32, 64};  // of all axes of small cases; legal ones are taken

// A case with its inputs and its answers.
struct SolvedCase {
  Case c;
  Packing packing;
  std::vector<std::byte> inputs;
  std::unique_ptr<Problem> problem;
  bool legal = false;                        // only then there are answers
  std::vector<std::vector<double>> rounded;  // outputs, by the op's oracle: in f32, with sums in order; empty: it has none

  // `coarse`: an input whose values become multiples of 1/4, to which a constant can be added without an error.
  SolvedCase(const Op&, const Case&, std::string_view coarse = {});
  SolvedCase(const Op&, Related);

 private:
  void solve(const Op&);
};

// The problem that a relation makes of a case; empty: none, or one that is not legal.
std::optional<SolvedCase> related_to(const Op&, const SolvedCase& original, const Relation&);

// An output of two problems, and where the elements of the related one are in the original.
struct OutputPair {
  std::span<const double> original, related;                  // in exact arithmetic
  std::span<const double> rounded_original, rounded_related;  // by the oracle; empty: there is none
  Sources sources;
};
std::vector<OutputPair> outputs_of(const Op&, const Relation&, const SolvedCase& original, const SolvedCase& related);

// How an output keeps a relation: not, up to the roundings of f64, or also with the bits of the oracle.
enum class Holds { no, nearly, to_the_bit };
// Of each output in order.
std::vector<Holds> how_it_holds(const Op&, const Relation&, const SolvedCase& original, const SolvedCase& related);

using Attributes = std::map<std::string, double>;
// Attributes such as a case's: with small numbers, of the same signs and in the same order, in the place of those that are not at
// their default.
std::vector<Attributes> small_numbers(const Op&, const Case&);
// Cases with such attributes: of two extents for all axes, and with each axis twice as long.  Empty: none is legal.
std::deque<SolvedCase> small_cases(const Op&, const Case& like);

}  // namespace assay
