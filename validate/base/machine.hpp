// SPDX-License-Identifier: Apache-2.0
// Faults of the machine, and of how this process was started, that would otherwise be blamed on a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace assay {

// What is wrong with this thread's arithmetic, which later threads inherit: another rounding than to nearest, subnormals that
// become zero, exceptions that are not masked.  A clause; empty: nothing is.
std::string arithmetic_fault();

// What is wrong with this process: its arithmetic, or that it cannot have so many threads at once or so many more files.  A
// clause; empty: nothing is.
std::string machine_fault(int threads, int files);

// Undoes what a caller may hand down: an ignored SIGCHLD, which would hide how a worker ended, blocked signals, and a limit of
// open files below what this process may set for itself.
void restore_process();

// Open files that this process may still have.
std::size_t spare_descriptors();

// Address space that this process may have (ulimit -v); the largest number if it is not limited.
std::size_t address_space();

// How many processes the system has killed so far because memory ran out; 0 where it does not say.  `proc`: where /proc is.
std::uint64_t killed_for_memory(const std::string& proc = "/proc");

}  // namespace assay
