// SPDX-License-Identifier: Apache-2.0
// main() of the command: the worker and timer processes, signals and exit codes.  The flags are in
// validate/command/command_line.cpp.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>
#include <system_error>

#include "validate/backends/backends.hpp"
#include "validate/backends/ptx.hpp"
#include "validate/base/error.hpp"
#include "validate/base/input.hpp"
#include "validate/base/machine.hpp"
#include "validate/base/memory.hpp"
#include "validate/base/thread_pool.hpp"
#include "validate/bench/timer.hpp"
#include "validate/command/commands.hpp"
#include "validate/files/cuda_source.hpp"
#include "validate/files/tensor_file.hpp"
#include "validate/worker/plugin.hpp"
#include "validate/worker/protocol.hpp"
#include "validate/worker/sandbox.hpp"
#include "validate/worker/worker.hpp"

namespace assay {

namespace {

// A signal asks the run to end.  It does within a second or so, and writes its last record.  One that comes much later finds a
// program that hangs, and ends it.
void request_stop(int) {
  constexpr std::time_t kPatience = 5;  // seconds
  static std::atomic<std::time_t> first{0};
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  if (!stop_requested.exchange(true)) first = now.tv_sec;
  else if (now.tv_sec - first > kPatience) _exit(kInterrupted);
}

// Prints an error on one line.  It may quote what was typed, so control characters are replaced.
int complain(const std::string& what, int code) {
  std::fprintf(stderr, "validate: %s\n", plain(what).c_str());
  return code;
}

// Whether this process is a worker: known before main(), for failures of what is constructed earlier.
bool is_worker = false;

// Ends the process where an exception finds no handler, as in a thread of OpenMP.  That memory or threads have run out is neither
// a crash of the judge nor the fault of a kernel.
[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    if (!is_worker) std::fputs("validate: out of memory\n", stderr);
    _exit(is_worker ? kMachineFailed : kIncomplete);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "validate: %s\n", e.what());
  } catch (...) {
  }
  std::abort();
}

// Ends the program where memory runs out before anything is judged.  Note: a stream of the C++ library only says that it has
// failed, and a list that was read from it would end there, unnoticed.
[[noreturn]] void on_no_memory() {
  std::fputs("validate: out of memory\n", stderr);
  _exit(kIncomplete);
}

// A judge that crashes has no verdict to give.  Its record has no end.  That somebody cut a file which it was reading is bad
// input.
void on_crash(int number, siginfo_t* info, void*) {
  const char* const change = number == SIGBUS ? change_at(info->si_addr) : nullptr;
  for (const char* const part :
       {"validate: ", change ? change : "the machine is at fault, or this program: it has crashed, and its record is incomplete",
        "\n"})
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, part, std::strlen(part));
  _exit(change ? kBadInput : kIncomplete);
}

// Confines this process and becomes another program: `validate confined FOLDER PROGRAM ARGUMENT...`.
int become_confined(char** argv) {
  if (*argv[2])
    for (const char* name : {"TMPDIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH", "TRITON_CACHE_DIR"}) ::setenv(name, argv[2], 1);
  limit_memory();
  if (!confine(Confined::program, argv[2])) {
    std::fputs("validate: the machine is at fault: the program cannot be confined\n", stderr);
    return kMachineFailed;
  }
  ::execv(argv[3], argv + 3);
  std::fprintf(stderr, "validate: cannot start '%s': %s\n", argv[3], std::strerror(errno));
  return kSocketLost;
}

// Starts the program again with OMP_WAIT_POLICY=passive, else idle OpenMP threads of the judge would spin on the workers' cores.
// The OpenMP runtime reads the variable before main, so setting it here would be too late.
void wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY")) return;
  char program[4096];
  const ssize_t n = ::readlink("/proc/self/exe", program, sizeof program - 1);
  if (n <= 0) return;
  program[n] = 0;
  ::setenv("OMP_WAIT_POLICY", "passive", 1);
  ::execv(program, argv);  // if this fails, the run is only slower
}

}  // namespace
}  // namespace assay

// Runs before all other code, which is compiled for x86-64-v3 and would die of an illegal instruction elsewhere.
__attribute__((constructor(101))) static void require_processor(int argc, char** argv) {
  assay::is_worker = argc > 1 && std::strcmp(argv[1], "worker") == 0;
  std::set_terminate(assay::on_terminate);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) return;
  std::fputs("validate: this build needs an x86-64-v3 processor (AVX2, FMA, BMI2)\n", stderr);
  std::_Exit(2);
#endif
}

namespace assay {

namespace {

// Whether main() has its code.  Before, nobody but this program may end it: OpenMP does if it cannot start a thread, with the
// code of a bad verdict.
bool decided = false;
void end_undecided() {
  if (decided) return;
  complain("the machine is at fault: a library has ended the program", kIncomplete);
  std::fflush(nullptr);
  std::_Exit(kIncomplete);
}

int judge_main(int argc, char** argv) {
  restore_process();
  return_freed_memory();
  if (argc >= 3 && argc <= 5 && std::string_view(argv[1]) == "worker") {
    const auto load = [&] {
      if (argc == 4) use_plugin(argv[3]);
      if (argc == 5) use_ptx(argv[3], argv[4], argv[2]);
    };
    return serve(about_worker(argv[2], argc == 5 ? KernelCode::ptx : KernelCode::compiled), load,
                 [&] { return open_backend(argv[2]); });
  }
  if (argc > 3 && std::string_view(argv[1]) == "confined") return become_confined(argv);
  if ((argc == 3 || argc == 4) && std::string_view(argv[1]) == "timer") return serve_times(argv[2], argc == 4 ? argv[3] : "");
  // If one of 0 to 2 is closed, the next file to be opened would get its number and receive the output.
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0) return kBadInput;
  wait_passively(argv);
  std::atexit(end_undecided);
  std::set_new_handler(on_no_memory);
  struct sigaction action {};
  action.sa_handler = request_stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  struct sigaction crash {};
  crash.sa_sigaction = on_crash;
  crash.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &crash, nullptr);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  for (const int number : {SIGABRT, SIGSEGV}) sigaction(number, &crash, nullptr);
#endif
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // the write then fails with an error, and the partial file is removed
  try {
    const int code = command_line(argc, argv);
    if (std::fflush(stdout) != 0 && errno != EPIPE)
      throw BadInput(fmt::format("cannot write to the output: {}", std::strerror(errno)));
    return code;
  } catch (const std::system_error& e) {
    // A reader that leaves early, like head, is no error.  141 is the shell's exit code for a program that SIGPIPE ended.
    if (e.code() == std::errc::broken_pipe) return 141;
    return complain(e.what(), kIncomplete);
  } catch (const BadInput& e) {
    return complain(e.what(), kBadInput);
  } catch (const FormulaError& e) {
    return complain(e.what(), kBadInput);
  } catch (const std::bad_alloc&) {
    return complain("out of memory", kIncomplete);
  } catch (const std::exception& e) {
    return complain(std::string("the machine is at fault: ") + e.what(), kIncomplete);
  }
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) {
  const int code = assay::judge_main(argc, argv);
  assay::decided = true;
  if (!assay::jobs_left_running) return code;
  std::fflush(nullptr);
  assay::remove_compiled();
  std::_Exit(code);
}
