// SPDX-License-Identifier: Apache-2.0
// Decodes every entry of PTX modules, as a launch would, and prints a line for each module: how many of its entries the machine
// runs, what they rest on, and the first instruction that it does not run (datasets/ptx/modules.py).
//   ptx_decode MODULE...       exits with 1 if an entry was refused
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "ptx/program.hpp"
#include "ptx/tokens.hpp"

namespace {

bool decode_all(const std::string& path) {
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::size_t entries = 0, run = 0;
  simt::ptx::Fidelity lowest{};
  std::string refused;
  try {
    const auto module = std::make_shared<const simt::ptx::Module>(simt::ptx::parse(text, path.substr(path.rfind('/') + 1)));
    for (const auto& f : module->functions) {
      if (!f->entry) continue;
      ++entries;
      try {
        lowest = std::max(lowest, simt::ptx::decode(module, *f)->rests.on);
        ++run;
      } catch (const simt::ptx::Refused& why) {
        if (refused.empty()) refused = why.what();
      }
    }
  } catch (const simt::ptx::Refused& why) {
    refused = why.what();
  }
  constexpr const char* kWords[] = {"exact", "contractable", "modelled"};
  const char* word = run == 0 ? "" : kWords[static_cast<int>(lowest)];
  std::printf("%s\t%zu\t%zu\t%s\t%s\n", path.c_str(), run, entries, word, refused.c_str());
  return run == entries && entries > 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool all = argc > 1;
  for (int i = 1; i < argc; ++i) all = decode_all(argv[i]) && all;
  return all ? 0 : 1;
}
