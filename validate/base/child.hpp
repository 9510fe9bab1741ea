// SPDX-License-Identifier: Apache-2.0
// Child processes of this program: the workers that run kernels and the processes that time them.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace assay {

// The child's descriptor `theirs` becomes a duplicate of `ours`, or of /dev/null if `ours` is -1.
struct Descriptor {
  int ours, theirs;
};

// Whether a child gets a variable of the environment, by its name.
using Passes = bool (*)(std::string_view variable);

// Starts `program` with `arguments` (after its name), in a session of its own, so that a Ctrl-C reaches the caller alone and the
// caller's terminal and process group are out of its reach.
// Its OpenMP threads wait passively, since they share the cores with the caller's.  It inherits no other descriptor that is
// close-on-exec, and of the environment what `passes`, or all without it.  Sets `pid` and returns 0; on failure sets `pid` to -1
// and returns errno.
int start_child(pid_t& pid, const std::string& program, std::vector<std::string> arguments,
                const std::vector<Descriptor>& descriptors, Passes passes = nullptr);

// Kills the child and whatever it has left running, waits for it, and sets `pid` to -1.  Processes that left its group are found
// as orphans, which this process adopts from its first child on.
void end_child(pid_t& pid);
// The same for a child that has ended and was waited for.
void ended_child(pid_t& pid);

// Runs a program, whose path comes first among the words, and waits for it.  Returns its exit code, -1 if it has none, and adds
// what it printed to `said`.
int output_of(const std::vector<std::string>& words, std::string& said);

// The processes whose parent is this one.
std::vector<pid_t> children();

}  // namespace assay
