// SPDX-License-Identifier: Apache-2.0
// What a worker says of itself and its kernels before its first order (docs/worker-protocol.md).  The judge asks, since a kernel
// may be in another program or in a plugin.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "validate/problem/op.hpp"

namespace assay {

// What a worker may check beside the judge's own checks.
inline constexpr std::array<std::string_view, 7> kChecks{"bounds",        "inputs",  "reads", "races",
                                                         "uninitialised", "traffic", "plain"};
// Checks in words, of kChecks or others that were not made: "races, reads of memory that nobody wrote".
std::string in_words(const std::vector<std::string>& checks);
// Those of kChecks that a worker on this backend does not make.  Only the simulated machine knows accesses with ld and st.
std::vector<std::string> left_unchecked(std::string_view backend, const std::vector<std::string>& made);

// A kernel as its worker lists it: texts, which kernels_of() checks.
struct ListedKernel {
  std::string op, name, about, code;
  std::string fidelity{};  // how closely its worker does what a GPU does, in words
  std::string numerics;    // empty: none are declared
  std::vector<std::string> dtypes;
  std::map<std::string, std::int64_t> tiles, tile_bytes{};  // by axis, in elements or in bytes
  bool deterministic = true, finite_inputs = false, position_matters = false;
  bool broken = false, variant = false;  // as in Kernel
  std::vector<std::string> backends{};   // for which it is built; empty: that of the listing
};

struct Listing {
  std::string refused;                // why the worker cannot answer; empty: it does
  std::string backend, device;        // "simt", "cuda" or "host"; the machine in words
  std::string built;                  // of a set: the version and the compiler that it was built with (build_text())
  std::vector<std::string> checks;    // of kChecks
  std::vector<ListedKernel> kernels;  // from the index that was asked for on
  std::size_t total = 0;              // number of all kernels
};

std::string question(std::int64_t id, std::size_t from);  // asks for the kernels from this index on
bool is_question(const std::string& text);
// Answers a question with as many kernels as a packet holds.  Throws std::exception if the text is malformed.
std::string answer(const std::string& question, Listing all);
// The answer to the question with this id.  Throws std::exception if the text is no answer.
Listing listing_from(const std::string& text, std::int64_t id);

ListedKernel listed(const Kernel& k);
// Whether it is of a listing and each of its steps has numerics of its own, which replies tell (Reply::steps).
bool has_steps_elsewhere(const Kernel& k);
// Kernels whose names refer to the list.  Throws BadInput, a sentence, for an unknown op, dtype or word, for a name that no
// repro line can hold, for two kernels of one name and for an empty list.
std::vector<Kernel> kernels_of(const std::vector<ListedKernel>& list);

}  // namespace assay
