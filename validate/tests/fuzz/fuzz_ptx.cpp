// SPDX-License-Identifier: Apache-2.0
// Any text as a PTX module.  What is parsed is decoded; both may refuse it, with its line.
#include <memory>
#include <string>
#include <string_view>

#include "simt/machine.hpp"
#include "simt/ptx/ptx.hpp"
#include "validate/tests/fuzz/fuzz.hpp"

using namespace assay::fuzz;
namespace ptx = simt::ptx;

namespace {

template <class F>
void taken(F&& f) {
  try {
    f();
  } catch (const ptx::Refused& e) {
    require(std::string_view(e.what()).starts_with("k.ptx:"), "a refusal begins with its place");
  } catch (const simt::OutOfMemory&) {  // of global variables, which have up to 2^28 bytes each
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  taken([&] {
    const auto module =
        std::make_shared<ptx::Module>(ptx::parse(std::string_view(reinterpret_cast<const char*>(data), size), "k.ptx"));
    for (const auto& f : module->functions)
      if (f->entry) taken([&] { ptx::decode(module, *f); });
    for (const ptx::Variable& v : module->variables)
      if (v.memory != nullptr) simt::release(v.memory);
  });
  return 0;
}
