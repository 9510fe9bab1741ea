// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/call_filter.hpp"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "validate/worker/asked_calls.hpp"

namespace assay {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif
constexpr std::uint32_t kRefusal = SECCOMP_RET_ERRNO | EPERM;

class Filter {
 public:
  // `asked`: what becomes of calls that need a look.
  explicit Filter(std::uint32_t asked) : asked_(asked) {
    // A program of another architecture, such as 32-bit x86, has other numbers of calls.
    code_ = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)), equal(kArchitecture, 1, 0), end(kRefusal)};
#if defined(__x86_64__)
    add({load(offsetof(seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
         end(kRefusal)});  // those of x32
#endif
  }
  void refuse(std::initializer_list<long> calls, std::uint32_t error = EPERM) {
    add({load(offsetof(seccomp_data, nr))});
    for (const long call : calls) add({equal(static_cast<std::uint32_t>(call), 0, 1), end(SECCOMP_RET_ERRNO | error)});
  }
  // Refuses a call whose argument has one of these bits.
  void refuse_bits(long call, int argument, std::uint32_t bits) { on_bits(call, argument, bits, kRefusal); }
  void ask_bits(long call, int argument, std::uint32_t bits) { on_bits(call, argument, bits, asked_); }
  // Refuses a call whose argument is one of these values.
  void refuse_values(long call, int argument, std::initializer_list<std::uint32_t> values) {
    std::vector<sock_filter> body{load(low(argument))};
    for (const std::uint32_t value : values) body.insert(body.end(), {equal(value, 0, 1), end(kRefusal)});
    on(call, body);
  }
  // Refuses a call unless its argument is one of these values.
  void refuse_unless(long call, int argument, std::initializer_list<std::uint32_t> values) {
    std::vector<sock_filter> body{load(low(argument))};
    for (auto left = static_cast<std::uint8_t>(values.size()); const std::uint32_t value : values)
      body.push_back(equal(value, left--, 0));
    body.push_back(end(kRefusal));
    on(call, body);
  }
  // Refuses controls of these kinds: the second byte of a number says what it is for.
  void refuse_controls(std::initializer_list<std::uint32_t> kinds) {
    std::vector<sock_filter> body{load(low(1)), BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8),
                                  BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff)};
    for (const std::uint32_t kind : kinds) body.insert(body.end(), {equal(kind, 0, 1), end(kRefusal)});
    on(SYS_ioctl, body);
  }
  // Asks about a call whose first argument names another thread than the caller.
  void ask_of_thread(long call) { on(call, {load(low(0)), equal(0, 1, 0), end(asked_)}); }
  // The same for a call that says first what its second argument is the number of.
  void ask_of_thread(long call, std::uint32_t kind_of_thread) {
    on(call, {load(low(0)), equal(kind_of_thread, 0, 2), load(low(1)), equal(0, 1, 0), end(asked_)});
  }
  // The same for a call that changes nothing if the pointer in this argument is null.
  void ask_of_thread_unless_null(long call, int pointer) {
    on(call,
       {load(low(0)), equal(0, 5, 0), load(low(pointer)), equal(0, 0, 2), load(low(pointer) + 4), equal(0, 1, 0), end(asked_)});
  }
  // Returns 0, or the filter's other end if it is asked for; -1 if the system does not take the filter.
  int install(bool with_listener) {
    add({end(SECCOMP_RET_ALLOW)});
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    constexpr unsigned long kNewListener = 1 << 3;
    if (with_listener) return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, kNewListener, &program));
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
  }

 private:
  using Code = std::vector<sock_filter>;
  static sock_filter end(std::uint32_t how) { return BPF_STMT(BPF_RET | BPF_K, how); }
  // Skips so many instructions if what is loaded is the value, or is not.
  static sock_filter equal(std::uint32_t value, std::uint8_t then, std::uint8_t otherwise) {
    return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise);
  }
  static sock_filter load(std::uint32_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset); }
  static std::uint32_t low(int argument) {  // half of it, in memory of little-endian order
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * static_cast<std::uint32_t>(argument);
  }
  void add(const Code& code) { code_.insert(code_.end(), code.begin(), code.end()); }
  void on(long call, const Code& body) {
    add({load(offsetof(seccomp_data, nr)), equal(static_cast<std::uint32_t>(call), 0, static_cast<std::uint8_t>(body.size()))});
    add(body);
  }
  void on_bits(long call, int argument, std::uint32_t bits, std::uint32_t how) {
    on(call, {load(low(argument)), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), end(how)});
  }
  std::uint32_t asked_;
  Code code_;
};

// Calls whose numbers the headers of some systems lack.  They are the same on all architectures.
constexpr long kPidfdSendSignal = 424, kIoUringSetup = 425, kOpenTree = 428, kMoveMount = 429, kFsopen = 430, kFsconfig = 431,
               kFsmount = 432, kFspick = 433, kClone3 = 435, kOpenat2 = 437, kPidfdGetfd = 438, kProcessMadvise = 440,
               kMountSetattr = 442, kQuotactlFd = 443, kProcessMrelease = 448, kFchmodat2 = 452, kLsmSetSelfAttr = 460,
               kSetxattrat = 463, kRemovexattrat = 466, kOpenTreeAttr = 467, kFileSetattr = 469;
constexpr std::uint32_t kNamespaces = 0x7e020000;  // all CLONE_NEW... of clone()
constexpr std::uint32_t kNewTime = 0x80;           // and CLONE_NEWTIME of unshare()

// What changes the machine, or a process that is not the caller's.
void refuse_changes_of_machine(Filter& f) {
  f.refuse({
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_mount, SYS_umount2,
        SYS_pivot_root, SYS_chroot, SYS_setns, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_settimeofday, SYS_clock_settime,
        SYS_adjtimex, SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_init_module, SYS_finit_module, SYS_delete_module,
        SYS_kexec_load, SYS_acct, SYS_quotactl, SYS_syslog, SYS_vhangup, SYS_open_by_handle_at, SYS_fanotify_init, kIoUringSetup,
        kOpenTree, kMoveMount, kFsopen, kFsconfig, kFsmount, kFspick, kMountSetattr, kQuotactlFd, kProcessMrelease,
        kLsmSetSelfAttr, kOpenTreeAttr, kFileSetattr,
#if defined(__x86_64__)
        SYS_kexec_file_load, SYS_iopl, SYS_ioperm
#endif
  });
  f.refuse_bits(SYS_clone, 0, kNamespaces);
  f.refuse_bits(SYS_unshare, 0, kNamespaces | kNewTime);
  f.refuse({kClone3}, ENOSYS);  // its flags lie in memory, and the C library takes clone() where it is missing
  // Another process's limits, priority, affinity and pages.  The C library names the calling process 0, but a thread by its
  // number.
  f.ask_of_thread_unless_null(SYS_prlimit64, 2);
  for (const long changing :
       {SYS_sched_setaffinity, SYS_sched_setscheduler, SYS_sched_setparam, SYS_sched_setattr, SYS_move_pages, SYS_migrate_pages})
    f.ask_of_thread(changing);
  f.ask_of_thread(SYS_setpriority, 0);
  f.ask_of_thread(SYS_ioprio_set, 1);
  // A lease makes others wait who open the file; an owner of a descriptor gets signals.
  constexpr std::uint32_t kSetOwner = 8, kSetOwnerEx = 15, kSetLease = 1024;
  f.refuse_values(SYS_fcntl, 1, {kSetOwner, kSetOwnerEx, kSetLease});
}

void refuse_for_kernels(Filter& f) {
  f.refuse({
    SYS_ptrace, SYS_process_vm_writev, SYS_process_vm_readv, SYS_kcmp, kProcessMadvise, SYS_socket, SYS_unshare, SYS_fchmod,
        SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
        SYS_fremovexattr, SYS_utimensat, SYS_flock, SYS_io_setup, SYS_shmget, SYS_msgget, SYS_semget, SYS_mq_open, kPidfdGetfd,
        kFchmodat2, kSetxattrat, kRemovexattrat,
#if defined(__x86_64__)
        SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat
#endif
  });
  // Note: a descriptor that only reads takes controls that change the file, such as FS_IOC_SETFLAGS.
  constexpr std::uint32_t kTerminal = 0x802c542a;  // TCGETS2, by which newer C libraries ask whether it is a terminal
  f.refuse_unless(SYS_ioctl, 1, {TCGETS, kTerminal, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX});
}

void refuse_for_programs(Filter& f, const LeftToFilter& left, bool asks) {
  // Flags and versions of files ('f', 'v'), frozen and trimmed file systems ('X'), those of btrfs and f2fs, block devices, and
  // what types into a terminal.
  f.refuse_controls({'f', 'v', 'X', 0x94, 0xf5, 0x12});
  constexpr std::uint32_t kTypes = 0x5412, kOfConsole = 0x541c;  // TIOCSTI, TIOCLINUX
  f.refuse_values(SYS_ioctl, 1, {kTypes, kOfConsole});
  // Note: these reach this machine alone: other programs, and the system.
  if (left.network) f.refuse_unless(SYS_socket, 0, {AF_UNIX, AF_NETLINK});
  if (!asks) return;
  // Names of threads (AskedCalls).
  f.ask_bits(SYS_openat, 2, O_ACCMODE);
#if defined(__x86_64__)
  f.ask_bits(SYS_open, 1, O_ACCMODE);
#endif
}

void refuse_signals(Filter& f) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  f.refuse({SYS_tkill, kPidfdSendSignal});
  for (const long signalling : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
    f.refuse_unless(signalling, 0, {0, self});
}

void refuse_writing(Filter& f) {
  constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  f.refuse_bits(SYS_openat, 2, kWriting);
  f.refuse({kOpenat2, SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_mknodat, SYS_symlinkat, SYS_linkat, SYS_truncate});
#if defined(__x86_64__)
  f.refuse_bits(SYS_open, 1, kWriting);
  f.refuse({SYS_creat, SYS_unlink, SYS_rmdir, SYS_rename, SYS_renameat, SYS_mkdir, SYS_mknod, SYS_symlink, SYS_link});
#endif
}

Filter filter_of(Confined how, const LeftToFilter& left, bool asks) {
  // Note: where nobody can be asked, a file is left to Landlock, and another process or thread is not to be changed.
  constexpr std::uint32_t kAsk = 0x7fc00000;  // SECCOMP_RET_USER_NOTIF
  Filter f(asks ? kAsk : kRefusal);
  refuse_changes_of_machine(f);
  if (how == Confined::kernels) refuse_for_kernels(f);
  else refuse_for_programs(f, left, asks);
  if (how == Confined::kernels && left.signals) refuse_signals(f);
  if (how == Confined::kernels && left.writing) refuse_writing(f);
  return f;
}

}  // namespace

// Note: a system that has filters tries to read this one, which lies nowhere.
bool has_seccomp() { return kArchitecture != 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 && errno == EFAULT; }

Filtered filter_calls(Confined how, const LeftToFilter& left) {
  if (can_ask()) {
    const int listener = filter_of(how, left, true).install(true);
    if (give_listener(listener) && listener >= 0) return Filtered::by_judge;
    if (listener >= 0) return Filtered::not_at_all;
  }
  return filter_of(how, left, false).install(false) == 0 ? Filtered::alone : Filtered::not_at_all;
}

}  // namespace assay
