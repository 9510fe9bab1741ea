// SPDX-License-Identifier: Apache-2.0
// main() of a worker that is a program of its own: that of another project's kernels (cmake/AssayKernels.cmake), or a set of ours
// (validate/CMakeLists.txt).
//   PROGRAM [simt|cuda]         as --worker starts it; without an argument it runs on a GPU if there is one
//   PROGRAM worker simt|cuda    as --set starts it: it also says what it was built with, and lists its kernels of every backend
#include <fmt/format.h>
#include <sys/stat.h>

#include "validate/backends/backends.hpp"
#include "validate/base/build.hpp"
#include "validate/base/error.hpp"
#include "validate/base/exit.hpp"
#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"
#include "validate/base/version.hpp"
#include "validate/problem/op.hpp"
#include "validate/worker/plugin.hpp"
#include "validate/worker/process.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/worker.hpp"

namespace assay {

namespace {

bool usable(std::string_view backend) { return backend_info(backend).unavailable.empty(); }

// For somebody who starts it by hand.
int explain(std::string_view program) {
  fmt::print(stderr, "{0}: this is a worker of Assay  (validate run --worker {0}, or --set {0}).  It has the kernels:\n",
             program);
  for (const Op& op : ops())
    for (const Kernel& k : kernels())
      if (k.op == op.name) fmt::print(stderr, "  {}/{}\n", k.op, k.name);
  return kBadInput;
}

// Checks that the backend can be used, and gives every kernel the hash of its code; where none is known, that of this program.
void load(std::string_view backend) {
  if (backend != "simt" && backend != "cuda")
    throw BadInput(fmt::format("'{}' is no backend of this program; simt or cuda was expected", backend));
  if (const std::string why_not = backend_info(backend).unavailable; !why_not.empty())
    throw BadInput(fmt::format("backend {} cannot be used: {}", backend, why_not));
  static const std::string of_program = KnownTree::code ? "" : file_hash("/proc/self/exe");
  std::vector<Kernel> all(built_in_kernels().begin(), built_in_kernels().end());
  for (Kernel& k : all) k.code = KnownTree::code ? KnownTree::code(k.op, k.name) : of_program;
  use_kernels(std::move(all));
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  using namespace assay;
  struct stat socket {};
  const bool as_set = argc == 3 && std::string_view(argv[1]) == kServe;
  if (argc > (as_set ? 3 : 2) || ::fstat(kWorkerSocket, &socket) != 0 || !S_ISSOCK(socket.st_mode)) return explain(argv[0]);
  restore_process();
  return_freed_memory();
  const std::string_view backend = argc > 1 ? argv[argc - 1] : usable("cuda") ? "cuda" : "simt";
  Listing about = about_worker(backend);
  if (as_set) about.built = build_text();
  return serve(
      about, [&] { load(backend); }, [&] { return open_backend(backend); });
}
