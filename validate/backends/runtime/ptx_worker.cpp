// SPDX-License-Identifier: Apache-2.0
// main() of a worker that runs an op's kernels from the PTX that nvcc made of them (docs/ptx.md).  Started by hand, PROGRAM lists
// its kernels, and PROGRAM KERNEL prints the PTX of one.
#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

#include "validate/backends/backends.hpp"
#include "validate/backends/runtime/cudart.hpp"
#include "validate/backends/runtime/fidelity_text.hpp"
#include "validate/base/exit.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/worker.hpp"

namespace assay {

namespace {

// The op whose kernels this program is for.  Note: a composite op's program has the kernels of others too.
std::string_view own_op() { return program_invocation_short_name; }

// The PTX of a kernel; the names of all for an empty one.
int print_kernels(std::string_view kernel) {
  const std::string_view op = own_op();
  bool found = kernel.empty();
  for (const cudart::RegisteredModule& m : cudart::modules()) {
    if (kernel.empty() && m.name.starts_with(fmt::format("{}/", op))) fmt::print("{}\n", m.name);
    if (!kernel.empty() && m.name == fmt::format("{}/{}.ptx", op, kernel)) {
      fmt::print("{}", m.text);
      found = true;
    }
  }
  if (!found) fmt::print(stderr, "'{}' is no kernel of this program\n", kernel);
  return found ? kAllPassed : kBadInput;
}

void load() {
  std::vector<Kernel> all;
  std::copy_if(built_in_kernels().begin(), built_in_kernels().end(), std::back_inserter(all),
               [](const Kernel& k) { return k.op == own_op(); });
  for (Kernel& k : all) {
    k.on_simt = std::exchange(k.on_gpu, nullptr);
    k.rests_on = [](const Kernel& kernel) { return fidelity_text(cudart::launched(), kernel.numerics); };
  }
  use_kernels(std::move(all));
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  using namespace assay;
  struct stat socket {};
  if (::fstat(kWorkerSocket, &socket) == 0 && S_ISSOCK(socket.st_mode))
    return serve(about_worker("simt", KernelCode::ptx), load, [] { return open_backend("simt"); });
  return print_kernels(argc == 2 ? argv[1] : "");
}
