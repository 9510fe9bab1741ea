// SPDX-License-Identifier: Apache-2.0
// HOSTILE: attaches to the judge, and writes to its memory.
// Expected: passed: it may not.  Else it gives a wrong answer.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, traces_the_judge) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0) spoil(a, l);
  if (::open(("/proc/" + std::to_string(::getppid()) + "/mem").c_str(), O_RDWR) >= 0) spoil(a, l);
  constexpr long kPidfdGetfd = 438;
  if (::syscall(kPidfdGetfd, -1, 0, 0) != -1 || errno != EPERM) spoil(a, l);  // and not EBADF: it is not even looked at
  char byte = 0;
  iovec mine{&byte, 1}, theirs{&byte, 1};
  if (::process_vm_writev(::getppid(), &mine, 1, &theirs, 1, 0) == 1) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, traces_the_judge)
