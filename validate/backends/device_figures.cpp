// SPDX-License-Identifier: Apache-2.0
#include "validate/backends/device_figures.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace assay {

DramBytes dram_of_launch(const DramBytes& whole, int launches, const DramBytes& of_flushes, int flushes) {
  const auto part = [&](double all, double flush) { return std::max(0.0, all / launches - flush / flushes); };
  return {part(whole.read, of_flushes.read), part(whole.written, of_flushes.written)};
}

int dram_rounds(double about_s) {
  constexpr double kSeconds = 0.05;
  constexpr int kLeast = 2, kMost = 16;
  return about_s * kMost <= kSeconds ? kMost : std::max(kLeast, static_cast<int>(kSeconds / about_s));
}

std::string short_function_name(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  std::string name = demangled ? demangled.get() : symbol;
  for (const std::string_view noise : {"(anonymous namespace)::", "assay::on_gpu::"})
    for (std::size_t at; (at = name.find(noise)) != std::string::npos;) name.erase(at, noise.size());
  if (name.starts_with("void ")) name.erase(0, 5);
  int depth = 0;  // of <>, since template arguments may contain parentheses
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    if (name[i] == '(' && depth == 0) name.resize(i);
  }
  return name;
}

}  // namespace assay
