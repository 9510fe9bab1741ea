// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the PTX door: an entry of a module that a test writes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ptx/ptx.hpp"
#include "simt_testing.hpp"

namespace simt::testing {

inline const std::string kPtxHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

// The entry `k`, whose parameters are pointers of these names.  The body begins at line 6 of k.ptx.
class Entry {
 public:
  Entry(const std::string& parameters, const std::string& body) {
    std::string list;
    for (std::size_t from = 0; from < parameters.size();) {
      const std::size_t to = std::min(parameters.find(' ', from), parameters.size());
      list += (list.empty() ? ".param .u64 " : ", .param .u64 ") + parameters.substr(from, to - from);
      from = to + 1;
    }
    const auto module =
        std::make_shared<ptx::Module>(ptx::parse(kPtxHead + ".visible .entry k(" + list + ")\n{\n" + body + "\n}\n", "k.ptx"));
    program_ = ptx::decode(module, *module->find("k"));
  }
  template <class... Pointers>
  void run(unsigned blocks, unsigned threads, Pointers... pointers) const {
    const std::vector<const void*> all{pointers...};
    ptx::launch(*program_, {.grid = {blocks}, .block = {threads}}, nullptr, std::as_bytes(std::span(all)));
  }

  const ptx::Program& program() const { return *program_; }

 private:
  std::shared_ptr<const ptx::Program> program_;
};

}  // namespace simt::testing
