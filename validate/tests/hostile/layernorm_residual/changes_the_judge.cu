// SPDX-License-Identifier: Apache-2.0
// HOSTILE: sets limits, priority and affinity of the judge, and how soon the system ends it for want of memory.
// Expected: passed: it may change its own alone.  Else it gives a wrong answer.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, changes_the_judge) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  const pid_t judge = ::getppid();
  for (const auto which : {RLIMIT_NPROC, RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_FSIZE}) {
    rlimit limit{};
    if (::prlimit(judge, which, nullptr, &limit) == 0 && ::prlimit(judge, which, &limit, nullptr) == 0) spoil(a, l);
    if (::prlimit(0, which, nullptr, &limit) != 0 || ::prlimit(::getpid(), which, &limit, nullptr) != 0) spoil(a, l);
  }
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) != 0 || ::sched_setaffinity(judge, sizeof cores, &cores) == 0) spoil(a, l);
  if (::sched_setaffinity(::gettid(), sizeof cores, &cores) != 0) spoil(a, l);
  const sched_param usual{};
  if (::sched_setscheduler(judge, SCHED_BATCH, &usual) == 0 || ::sched_setparam(judge, &usual) == 0) spoil(a, l);
  const auto judges = static_cast<id_t>(judge);
  if (::setpriority(PRIO_PROCESS, judges, 19) == 0 || ::setpriority(PRIO_PGRP, static_cast<id_t>(::getpgid(judge)), 19) == 0)
    spoil(a, l);
  constexpr id_t kNobody = 54321;  // who has no process
  if (::setpriority(PRIO_USER, kNobody, 19) == 0 || errno != EPERM) spoil(a, l);
  if (::syscall(SYS_ioprio_set, 1, judge, 0) == 0) spoil(a, l);
  if (::syscall(SYS_ioprio_set, 3, kNobody, 0) == 0 || errno != EPERM) spoil(a, l);
  if (::open(("/proc/" + std::to_string(judge) + "/oom_score_adj").c_str(), O_WRONLY) >= 0) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, changes_the_judge)
