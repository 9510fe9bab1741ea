// SPDX-License-Identifier: Apache-2.0
// What a program is linked with.  Ops and their kernels enter themselves here before main(), so no list names them.
#pragma once

#include <string_view>
#include <vector>

#include "ops/core/kernel.hpp"

namespace assay {

// Each op's generated file defines it (cmake/op.in).  A kernel calls it, so the linker takes the op with the kernel, even from an
// archive.
template <class Op>
void link_op();

// An op, and its kernels, as the judge sees both (validate/problem/op.hpp).
struct Op;
struct Kernel;
struct LinkedOp {
  Op (*make)();
  void (*add_kernels)(std::vector<Kernel>& to);
  const LinkedOp* next = nullptr;
  static inline const LinkedOp* first = nullptr;
  LinkedOp(Op (*m)(), void (*add)(std::vector<Kernel>&)) : make(m), add_kernels(add), next(first) { first = this; }
};

enum class Flavour { on_simt, on_gpu };  // what a kernel file is compiled for; ASSAY_FLAVOUR is one of them

// A kernel of an op as one file declares it, its launcher's arguments erased.
template <class Op>
struct LinkedKernel {
  std::string_view op;
  const KernelTraits<Op>& traits;
  Launcher run;
  Legality (*supports)(const void* args);
  std::size_t (*workspace_bytes)(const void* args);
  Flavour flavour;
  std::string_view file;   // as the compiler names it
  std::string_view about;  // the file's head comment, where the compiler was given it
  const LinkedKernel* next;
  static inline const LinkedKernel* first = nullptr;
};

template <class Op, const KernelTraits<Op>& traits, void (*Run)(const typename Op::Args&, const Launch&)>
struct LinkKernel {
  LinkedKernel<Op> kernel;
  LinkKernel(std::string_view op, Flavour flavour, std::string_view file, std::string_view about)
      : kernel{op, traits, run, supports, workspace_bytes, flavour, file, about, LinkedKernel<Op>::first} {
    LinkedKernel<Op>::first = &kernel;
    link_op<Op>();
  }

 private:
  static const typename Op::Args& args(const void* erased) { return *static_cast<const typename Op::Args*>(erased); }
  static void run(const void* erased, const Launch& l) { Run(args(erased), l); }
  static Legality supports(const void* erased) { return traits.supports ? traits.supports(args(erased)) : Legality::yes(); }
  static std::size_t workspace_bytes(const void* erased) {
    return traits.workspace_bytes ? traits.workspace_bytes(args(erased)) : 0;
  }
};

// The name of a kernel: that of its file.
constexpr std::string_view stem(std::string_view file) {
  if (const std::size_t slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  return file.substr(0, file.find('.'));
}
// Whether a function of a kernel's namespace, as __PRETTY_FUNCTION__ names it, lies in the room of that kernel.
constexpr bool is_in_room(std::string_view function, std::string_view op, std::string_view kernel) {
  for (std::size_t at = function.find(op); at != function.npos; at = function.find(op, at + 1)) {
    std::string_view rest = function.substr(at + op.size());
    if (!rest.starts_with("_room::")) continue;
    rest.remove_prefix(std::string_view("_room::").size());
    if (rest.starts_with(kernel) && rest.substr(kernel.size()).starts_with("::")) return true;
  }
  return false;
}

}  // namespace assay
