// SPDX-License-Identifier: Apache-2.0
#include "validate/base/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

extern char** environ;

namespace assay {

int start_child(pid_t& pid, const std::string& program, std::vector<std::string> arguments,
                const std::vector<Descriptor>& descriptors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const Descriptor& d : descriptors) {
    if (d.ours < 0)
      posix_spawn_file_actions_addopen(&actions, d.theirs, "/dev/null", O_RDWR, 0);
    else
      posix_spawn_file_actions_adddup2(&actions, d.ours, d.theirs);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);

  std::string name = program == "/proc/self/exe" ? "validate" : program, passive = "OMP_WAIT_POLICY=passive";
  std::vector<char*> argv{name.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<char*> environment{passive.data()};
  for (char** e = environ; *e; ++e)
    if (!std::string_view(*e).starts_with("OMP_WAIT_POLICY=")) environment.push_back(*e);
  environment.push_back(nullptr);

  const int error = ::posix_spawn(&pid, program.c_str(), &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error) pid = -1;
  return error;
}

void end_child(pid_t& pid) {
  if (pid <= 0) return;
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid = -1;
}

}  // namespace assay
