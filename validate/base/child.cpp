// SPDX-License-Identifier: Apache-2.0
#include "validate/base/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;

namespace assay {

namespace {

std::mutex children_mutex;
std::vector<pid_t> started;  // and not yet ended; also those that were there before

// Takes in the orphans of children, so that they can be ended, from the first child on.  Note: a shell that has become this
// program by exec may have left it children, which are not ours to end.
void adopt_orphans() { [[maybe_unused]] static const int first = (started = children(), ::prctl(PR_SET_CHILD_SUBREAPER, 1)); }

int spawn(pid_t& pid, const std::string& program, std::vector<std::string>& arguments, const std::vector<Descriptor>& descriptors,
          Passes passes) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (const int error = posix_spawn_file_actions_init(&actions)) return error;
  if (const int error = posix_spawnattr_init(&attributes)) {
    posix_spawn_file_actions_destroy(&actions);
    return error;
  }
  int error = 0;
  for (const Descriptor& d : descriptors) {
    if (error) break;
    error = d.ours < 0 ? posix_spawn_file_actions_addopen(&actions, d.theirs, "/dev/null", O_RDWR, 0)
                       : posix_spawn_file_actions_adddup2(&actions, d.ours, d.theirs);
  }
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);

  std::string name = program == "/proc/self/exe" ? "validate" : program, passive = "OMP_WAIT_POLICY=passive";
  std::vector<char*> argv{name.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> environment{passive.data()};
  for (char** e = environ; *e; ++e) {
    const std::string_view text = *e, variable = text.substr(0, text.find('='));
    if (variable != "OMP_WAIT_POLICY" && (!passes || passes(variable))) environment.push_back(*e);
  }
  environment.push_back(nullptr);

  if (!error) error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

void wait_for(pid_t pid) {
  while (::waitpid(pid, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace

int start_child(pid_t& pid, const std::string& program, std::vector<std::string> arguments,
                const std::vector<Descriptor>& descriptors, Passes passes) {
  const std::lock_guard lock(children_mutex);
  adopt_orphans();
  started.reserve(started.size() + 1);
  const int error = spawn(pid, program, arguments, descriptors, passes);
  if (error) pid = -1;
  else started.push_back(pid);
  return error;
}

int output_of(const std::vector<std::string>& words, std::string& said) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return -1;
  std::vector<char*> arguments;
  for (const std::string& w : words) arguments.push_back(const_cast<char*>(w.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], 1);
    ::dup2(pipe[1], 2);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  char buffer[4096];
  for (ssize_t n; (n = ::read(pipe[0], buffer, sizeof buffer)) > 0;) said.append(buffer, static_cast<std::size_t>(n));
  ::close(pipe[0]);
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<pid_t> children() {
  std::vector<pid_t> all;
  std::error_code error;
  for (std::filesystem::directory_iterator thread("/proc/self/task", error), end; !error && thread != end;
       thread.increment(error)) {
    std::ifstream file(thread->path() / "children");
    for (pid_t child = 0; file >> child;) all.push_back(child);
  }
  return all;
}

void ended_child(pid_t& pid) {
  const std::lock_guard lock(children_mutex);
  ::kill(-pid, SIGKILL);
  std::erase(started, std::exchange(pid, -1));
  // What left the group, or the worker's own care, has become a child of this process.
  for (bool any = true; std::exchange(any, false);)
    for (const pid_t orphan : children())
      if (std::find(started.begin(), started.end(), orphan) == started.end()) {
        any = true;
        ::kill(orphan, SIGKILL);
        wait_for(orphan);
      }
}

void end_child(pid_t& pid) {
  if (pid <= 0) return;
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  wait_for(pid);
  ended_child(pid);
}

}  // namespace assay
