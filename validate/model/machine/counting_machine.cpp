// SPDX-License-Identifier: Apache-2.0
#include "validate/model/machine/counting_machine.hpp"

#include <cstring>

#include "validate/model/machine/workspace.hpp"

namespace assay {

namespace {

struct Nothing final : Replay {
  void run(int) override {}
};

}  // namespace

void* CountingMachine::allocate(std::size_t bytes, std::string_view) {
  void* const p = reinterpret_cast<void*>(address_);
  bytes_ += bytes;
  address_ += (bytes / kApart + 1) * kApart;
  return p;
}
void CountingMachine::read(void* host, const void*, std::size_t bytes) {
  if (bytes) std::memset(host, 0, bytes);
}
std::unique_ptr<Replay> CountingMachine::record(const std::vector<PlacedStep>& steps, const NextTokens&, bool,
                                                std::vector<StepTime>&) {
  bytes_ += workspace_of(choice_, steps);
  return std::make_unique<Nothing>();
}

}  // namespace assay
