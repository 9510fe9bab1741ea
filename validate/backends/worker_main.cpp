// SPDX-License-Identifier: Apache-2.0
// main() of a worker whose kernels another project has built (cmake/AssayKernels.cmake):  PROGRAM [simt|cuda].  Without an
// argument it runs on a GPU if there is one.
#include <fmt/format.h>
#include <sys/stat.h>

#include "validate/backends/backends.hpp"
#include "validate/base/error.hpp"
#include "validate/base/exit.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/plugin.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/worker.hpp"

namespace assay {

namespace {

bool usable(std::string_view backend) { return backend_info(backend).unavailable.empty(); }

// For somebody who starts it by hand.
int explain(std::string_view program) {
  fmt::print(stderr, "{0}: this is a worker of Assay  (validate run --worker {0}).  It has the kernels:\n", program);
  for (const Op& op : ops())
    for (const Kernel& k : kernels())
      if (k.op == op.name) fmt::print(stderr, "  {}/{}\n", k.op, k.name);
  return kBadInput;
}

// Checks that the backend can be used, and gives every kernel the hash of this program as that of its code.
void load(std::string_view backend) {
  if (backend != "simt" && backend != "cuda")
    throw BadInput(fmt::format("'{}' is no backend of this program; simt or cuda was expected", backend));
  if (const std::string why_not = backend_info(backend).unavailable; !why_not.empty())
    throw BadInput(fmt::format("backend {} cannot be used: {}", backend, why_not));
  static const std::string code = file_hash("/proc/self/exe");
  std::vector<Kernel> all(built_in_kernels().begin(), built_in_kernels().end());
  for (Kernel& k : all) k.code = code;
  use_kernels(std::move(all));
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  using namespace assay;
  struct stat socket {};
  if (argc > 2 || ::fstat(kWorkerSocket, &socket) != 0 || !S_ISSOCK(socket.st_mode)) return explain(argv[0]);
  const std::string_view backend = argc == 2 ? argv[1] : usable("cuda") ? "cuda" : "simt";
  return serve(
      about_worker(backend), [&] { load(backend); }, [&] { return open_backend(backend); });
}
