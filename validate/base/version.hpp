// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace assay {

std::string_view version();      // "0.1.0"
std::string_view commit();       // of the source tree at build time; ends in "-dirty" if the tree had local changes
std::string_view build_flags();  // build type, CUDA version and architectures
// Hash of everything that a kernel is compiled from: its file and every file of the tree that it includes, without comments, the
// compiler and its flags.  Equal hashes mean equal code.  Empty if there is no such kernel.
std::string_view code_hash(std::string_view op, std::string_view kernel);
// Version of the judge of an op: a hash of all that decides a verdict besides the kernel and the case (contract, golden, judge,
// simulated machine).  Empty if there is no such op.
std::string_view judge_hash(std::string_view op);
// What a printed repro line ends in: " judge=3a1d4321", the first digits of a version; empty for none.
inline std::string judge_word(std::string_view version) {
  constexpr std::size_t kDigits = 8;
  return version.empty() ? "" : " judge=" + std::string(version.substr(0, kDigits));
}
// What a program has that knows the tree: the head comments of ops (of an empty kernel) and kernels, and code_hash().
struct KnownTree {
  using Of = std::string_view (*)(std::string_view op, std::string_view kernel);
  static inline Of about = nullptr, code = nullptr;
  KnownTree(Of a, Of c) {
    about = a;
    code = c;
  }
};
// Version of the suites: a hash of what decides which cases there are.
std::string_view suites_hash();

}  // namespace assay
