// SPDX-License-Identifier: Apache-2.0
// What is said of the command line itself: errors with their next step, the end of a subcommand's help, the man page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay {

// What is wrong with a command line, with the nearest right name where a name is wrong.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, std::string_view first);
// The sentence with a command that goes on from there, in parentheses, where it names none yet.
std::string with_next_step(const CLI::App& app, std::string sentence);
// Gives every subcommand's help its exit codes and the environment variables that it reads.
void add_footers(CLI::App& app);
// validate.1, made from the flags.
std::string man_page(const CLI::App& app);

}  // namespace assay
