// SPDX-License-Identifier: Apache-2.0
// Kernels that are not built in: those of another program that speaks the worker protocol, or of a plugin, which our own worker
// opens.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "validate/problem/op.hpp"
#include "validate/tasks/task.hpp"

namespace assay {

// Starts a worker, asks which kernels it has, checks what they declare and puts them in the place of the built-in ones
// (use_kernels).  `flags`: see Loaded.  Throws BadInput, one sentence that begins with the flags.
const Loaded& load_kernels(const std::string& flags, const std::vector<std::string>& command, double timeout_s);
// The same for the kernels of a set (sets.hpp), which must be built as this program is.
inline constexpr double kListingPatience = 60;  // seconds, where no flag gives a limit
const Loaded& load_set(const std::string& set, std::string_view backend, double timeout_s = kListingPatience);
// Adds those of a set that are not built in.
void add_set(const std::string& set, std::string_view backend, double timeout_s = kListingPatience);

// Lets the kernels of this tree run from the PTX that nvcc made of them, each by the program of its op, ptx/OP beside this one
// (docs/ptx.md).  `device`: the machine in words.  Returns why that cannot be, a sentence; empty: it can.
std::string use_ptx_kernels(const std::string& device);
// Throws BadInput if a kernel that is to be judged so has no program.
void check_ptx_kernels(std::span<const Task> tasks);

// A word as a shell takes it, and a flag with its value: "--plugin ./libmine.so", "--worker 'mine --fast'".
std::string shell_word(const std::string& word);
std::string flag_text(const std::string& flag, const std::string& value);

// What a kernel without numerics is held to.
inline constexpr const char* kHeldTo = "f32 accumulation, any order (the default, since no numerics are declared)";

}  // namespace assay
