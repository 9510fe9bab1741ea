// SPDX-License-Identifier: Apache-2.0
// HOSTILE: makes memory and queues that outlive it.
// Expected: passed: it may not.  Else it gives a wrong answer.
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, leaves_shared_memory) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  if (const int id = ::shmget(IPC_PRIVATE, 4096, 0600); id >= 0) {
    ::shmctl(id, IPC_RMID, nullptr);
    spoil(a, l);
  }
  if (const int id = ::msgget(IPC_PRIVATE, 0600); id >= 0) {
    ::msgctl(id, IPC_RMID, nullptr);
    spoil(a, l);
  }
  if (const int id = ::semget(IPC_PRIVATE, 1, 0600); id >= 0) {
    ::semctl(id, 0, IPC_RMID);
    spoil(a, l);
  }
  if (::syscall(SYS_mq_open, nullptr, 0, 0, nullptr) >= 0 || errno != EPERM) spoil(a, l);  // and not EFAULT
}

}  // namespace assay::ROOM(layernorm_residual, leaves_shared_memory)
