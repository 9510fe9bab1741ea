// SPDX-License-Identifier: Apache-2.0
#include "validate/worker/sandbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace assay {

namespace {

constexpr const char* kSwitch = "ASSAY_SANDBOX";  // "off" in the environment of a worker without a sandbox

// --- Landlock, by its system calls, since the headers of older systems lack it --------------------------------------
struct Ruleset {
  std::uint64_t files, network, scoped;
};
struct __attribute__((packed)) Beneath {
  std::uint64_t allowed;
  std::int32_t folder;
};
constexpr long kCreateRuleset = 444, kAddRule = 445, kRestrictSelf = 446;
constexpr std::uint64_t kWriteFile = 1 << 1, kRemoveAndMake = 0x1ff0, kRefer = 1 << 13, kTruncate = 1 << 14;
constexpr std::uint64_t kScopeSockets = 1 << 0, kScopeSignals = 1 << 1;

int landlock_version() {
  const long version = ::syscall(kCreateRuleset, nullptr, 0, 1);
  return version < 0 ? 0 : static_cast<int>(version);
}
bool has_scopes() { return landlock_version() >= 6; }

std::uint64_t changes_of_files() {
  const int version = landlock_version();
  return kWriteFile | kRemoveAndMake | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0);
}

void allow(int ruleset, const char* path, std::uint64_t what) {
  const Beneath rule{what, ::open(path, O_PATH | O_CLOEXEC)};
  if (rule.folder < 0) return;
  ::syscall(kAddRule, ruleset, 1, &rule, 0);
  ::close(rule.folder);
}

bool lock_land(Confined how, const std::string& folder) {
  const std::uint64_t all = changes_of_files();
  Ruleset rules{all, 0, has_scopes() ? kScopeSignals | kScopeSockets : 0};
  const std::size_t known = has_scopes() ? sizeof rules : sizeof rules.files;
  const int ruleset = static_cast<int>(::syscall(kCreateRuleset, &rules, known, 0));
  if (ruleset < 0) return false;
  const std::uint64_t write = all & (kWriteFile | kTruncate);
  allow(ruleset, "/dev/null", write);
  if (how == Confined::program) {
    for (const char* device : {"/dev/zero", "/dev/full"}) allow(ruleset, device, write);
    if (!folder.empty()) allow(ruleset, folder.c_str(), all);
    // Names of threads, without which CUDA does not start.  Note: not /proc/self, since a shell may start the program as its child.
    allow(ruleset, "/proc", write);
    for (const char* device : {"/dev/dri", "/dev/dxg", "/dev/nvmap"}) allow(ruleset, device, write);
    glob_t nodes{};
    for (const char* devices : {"/dev/nvidia*", "/dev/nvhost*"})
      if (::glob(devices, 0, nullptr, &nodes) == 0) {
        for (std::size_t i = 0; i < nodes.gl_pathc; ++i) allow(ruleset, nodes.gl_pathv[i], write);
        ::globfree(&nodes);
      }
  }
  const bool locked = ::syscall(kRestrictSelf, ruleset, 0) == 0;
  ::close(ruleset);
  return locked;
}

// --- seccomp: calls that Landlock does not know, for workers that need none of them ----------------------------------
#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

class Filter {
 public:
  Filter() {
    // A program of another architecture, such as 32-bit x86, has other numbers of calls.
    code_ = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0), refusal()};
#if defined(__x86_64__)
    load(offsetof(seccomp_data, nr));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));  // the calls of x32
    code_.push_back(refusal());
#endif
  }
  void refuse(std::initializer_list<long> calls, std::uint32_t error = EPERM) {
    load(offsetof(seccomp_data, nr));
    for (const long call : calls) {
      code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1));
      code_.push_back(refusal(error));
    }
  }
  // Refuses a call whose argument has one of these bits.
  void refuse_bits(long call, int argument, std::uint32_t bits) {
    load(offsetof(seccomp_data, nr));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 3));
    load(offset_of(argument));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    code_.push_back(refusal());
  }
  // Refuses a call unless its argument is 0 or this value.
  void refuse_unless(long call, int argument, std::uint32_t value) {
    load(offsetof(seccomp_data, nr));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4));
    load(offset_of(argument));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0));
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    code_.push_back(refusal());
  }
  // Returns whether the system has taken it.
  bool install() {
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  static sock_filter refusal(std::uint32_t error = EPERM) { return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error); }
  static std::uint32_t offset_of(int argument) {  // of its low half, in memory of little-endian order
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) + 8 * static_cast<std::uint32_t>(argument);
  }
  void load(std::size_t offset) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset))); }
  std::vector<sock_filter> code_;
};

// Note: a system that has filters tries to read this one, which lies nowhere.
bool has_seccomp() { return kArchitecture != 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr) != 0 && errno == EFAULT; }

bool filter_calls() {
  if (!has_seccomp()) return true;
  Filter f;
  f.refuse({
    SYS_ptrace, SYS_process_vm_writev, SYS_process_vm_readv, SYS_socket, SYS_bpf, SYS_perf_event_open, SYS_keyctl, SYS_mount,
        SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_settimeofday,
        SYS_clock_settime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname, SYS_init_module, SYS_finit_module, SYS_delete_module,
        SYS_kexec_load, SYS_acct, SYS_quotactl, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_setxattr, SYS_lsetxattr,
        SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_utimensat, SYS_flock, SYS_io_setup, SYS_shmget,
        SYS_msgget, SYS_semget, SYS_mq_open, 425 /* io_uring_setup */, 438 /* pidfd_getfd */, 452 /* fchmodat2 */,
#if defined(__x86_64__)
        SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat
#endif
  });
  constexpr std::uint32_t kNamespaces = 0x7e020000;  // all CLONE_NEW... of clone()
  f.refuse_bits(SYS_clone, 0, kNamespaces);
  f.refuse({435 /* clone3: its flags lie in memory, and the C library takes clone() where it is missing */}, ENOSYS);
  const auto self = static_cast<std::uint32_t>(::getpid());
  f.refuse_unless(SYS_prlimit64, 0, self);
  if (!has_scopes()) {
    f.refuse({SYS_tkill, 424 /* pidfd_send_signal */});
    for (const long signalling : {SYS_kill, SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
      f.refuse_unless(signalling, 0, self);
  }
  if (landlock_version() == 0) {
    constexpr std::uint32_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    f.refuse_bits(SYS_openat, 2, kWriting);
    f.refuse({437 /* openat2 */, SYS_unlinkat, SYS_renameat2, SYS_mkdirat, SYS_mknodat, SYS_symlinkat, SYS_linkat, SYS_truncate});
#if defined(__x86_64__)
    f.refuse_bits(SYS_open, 1, kWriting);
    f.refuse({SYS_creat, SYS_unlink, SYS_rmdir, SYS_rename, SYS_renameat, SYS_mkdir, SYS_mknod, SYS_symlink, SYS_link});
#endif
  }
  return f.install();
}

// Why no worker is confined here; empty if it is.
std::string why_off() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "this build has sanitizers";
#endif
  if (const char* given = std::getenv(kSwitch); given && std::string_view(given) == "off") return "--no-sandbox";
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string_view library = preloaded ? preloaded : "";
  if (std::getenv("CUDA_INJECTION64_PATH") || library.find("njection") != library.npos || library.find("sanitizer") != library.npos)
    return "a profiler or sanitizer is attached";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("TracerPid:") && line.find_first_of("123456789") != line.npos) return "a debugger is attached";
  if (landlock_version() == 0 && !has_seccomp()) return "the system has neither Landlock nor seccomp";
  return {};
}

}  // namespace

Confined confined_on(const std::string& backend) { return backend == "cuda" ? Confined::program : Confined::kernels; }

std::string sandbox_text(Confined how) {
  if (const std::string why = why_off(); !why.empty()) return "off: " + why;
  const int version = landlock_version();
  const std::string land = version ? fmt::format("landlock {}", version) : "";
  if (how != Confined::kernels || !has_seccomp()) return land.empty() ? "off: the system has no Landlock" : land;
  return land.empty() ? "seccomp" : land + ", seccomp";
}

bool confine(Confined how, const std::string& folder) {
  if (!why_off().empty()) return true;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || (landlock_version() && !lock_land(how, folder))) return false;
  return how != Confined::kernels || filter_calls();
}

void leave_out_sandbox() { ::setenv(kSwitch, "off", 1); }

}  // namespace assay
