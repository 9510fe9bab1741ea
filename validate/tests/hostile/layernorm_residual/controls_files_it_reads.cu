// SPDX-License-Identifier: Apache-2.0
// HOSTILE: changes a file and its file system through a descriptor that only reads, and asks for mounts, keys and the machine.
// Expected: passed: none of it succeeds, or is even looked at.  Else it gives a wrong answer.
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "validate/tests/hostile/plain.hpp"

namespace assay::ROOM(layernorm_residual, controls_files_it_reads) {

KERNEL(layernorm_residual){.dtypes = {f16, bf16, f32}};

void run(const layernorm_residual::Args& a, const Launch& l) {
  answer(a, l);
  const auto refused = [](long result) { return result == -1 && errno == EPERM; };  // and not EFAULT or EBADF
  const char* folder = std::getenv("ASSAY_HOSTILE_FOLDER");                         // of the test; it has a file "file"
  const int file = ::open((std::string(folder ? folder : "/nowhere") + "/file").c_str(), O_RDONLY);
  int flags = FS_NODUMP_FL;
  if (!refused(::ioctl(file, FS_IOC_SETFLAGS, &flags))) spoil(a, l);
  fsxattr attributes{};
  attributes.fsx_xflags = FS_XFLAG_NODUMP;
  if (!refused(::ioctl(file, FS_IOC_FSSETXATTR, &attributes))) spoil(a, l);
  if (!refused(::fcntl(file, F_SETLEASE, F_RDLCK))) spoil(a, l);
  ::close(file);
  const int nothing = ::memfd_create("nothing", 0);    // whose file system can neither be frozen nor trimmed
  constexpr unsigned long kEnableVerity = 0x40806685;  // FS_IOC_ENABLE_VERITY
  for (const unsigned long control : {FIFREEZE, FITHAW, FITRIM, kEnableVerity})
    if (!refused(::ioctl(nothing, control, nullptr))) spoil(a, l);
  ::close(nothing);
  constexpr long kCalls[] = {SYS_mount,
                             SYS_umount2,
                             SYS_pivot_root,
                             SYS_chroot,
                             SYS_setns,
                             SYS_quotactl,
                             SYS_swapon,
                             SYS_acct,
                             SYS_reboot,
                             SYS_bpf,
                             SYS_perf_event_open,
                             SYS_userfaultfd,
                             SYS_open_by_handle_at,
                             SYS_add_key,
                             SYS_request_key,
                             SYS_keyctl,
                             SYS_init_module,
                             SYS_fsetxattr,
                             SYS_setxattr,
                             425 /* io_uring_setup */,
                             428 /* open_tree */,
                             429 /* move_mount */,
                             430 /* fsopen */,
                             442 /* mount_setattr */,
                             443 /* quotactl_fd */,
                             469 /* file_setattr */};
  for (const long call : kCalls)
    if (!refused(::syscall(call, -1, 0, -1, 0, 0))) spoil(a, l);
  if (!refused(::syscall(SYS_sethostname, nullptr, 64))) spoil(a, l);
}

}  // namespace assay::ROOM(layernorm_residual, controls_files_it_reads)
