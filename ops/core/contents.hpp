// SPDX-License-Identifier: Apache-2.0
// What the elements of an input are, as a contract says it beside the tensor's shape (TensorOptions::holds).  The judge draws
// such elements, those among them at which kernels fail, and refuses others.
#pragma once

#include <string_view>

#include "ops/core/axes.hpp"

namespace assay {

struct Contents {
  enum class Kind {
    any,        // any number
    between,    // numbers from `least` to `most`
    indices,    // of an axis: 0 ... extent - 1
    positions,  // of tokens in their sequences
    starts,     // of packed sequences, and the end of the last: they rise from 0 to the number of all tokens
    lengths,    // of sequences that lie in pages: 0 ... max_pages * page_size
    pages,      // the page of each page_size positions of a sequence; entries beyond its length may be anything
    output,     // what another op computes from the tensors of the same names
  };
  Kind kind = Kind::any;
  double least = 0, most = 0;
  Axis axis = Axis::one;      // of indices and pages the one that they index; of starts the mean number of a sequence's tokens
  std::string_view tensor{};  // of pages: the lengths; of output: which one
  std::string_view op{};      // of output

  // Whether its integers are indices of this axis, and move with it.
  constexpr bool index(const Axis& a) const { return (kind == Kind::indices || kind == Kind::pages) && axis == a; }
};

// Every float dtype must hold both ends, since values are rounded; they may be infinite.
constexpr Contents between(double least, double most) { return {.kind = Contents::Kind::between, .least = least, .most = most}; }
constexpr Contents indices_of(const Axis& axis) { return {.kind = Contents::Kind::indices, .axis = axis}; }
constexpr Contents positions_of_tokens() { return {.kind = Contents::Kind::positions}; }
// Of a tensor of [sequences + 1].  `tokens`: an axis of which each sequence has as many as its extent says, on average.
constexpr Contents starts_of(const Axis& tokens) { return {.kind = Contents::Kind::starts, .axis = tokens}; }
// Of tensors of [batch] and [batch, max_pages]; pools begin with the axes pages and page_size.
constexpr Contents lengths_in_pages() { return {.kind = Contents::Kind::lengths}; }
constexpr Contents pages_by(std::string_view lengths) {
  return {.kind = Contents::Kind::pages, .axis = Axis::pages, .tensor = lengths};
}
constexpr Contents output_of(std::string_view op, std::string_view tensor) {
  return {.kind = Contents::Kind::output, .tensor = tensor, .op = op};
}

}  // namespace assay
