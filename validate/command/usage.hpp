// SPDX-License-Identifier: Apache-2.0
// Text about the command line itself: usage errors with a next step, the footer of each subcommand's help, the man page.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace assay {

// Says what is wrong with a command line, and the nearest known name if a name is unknown.  `first`: its first word.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error, std::string_view first);
// Appends "  (COMMAND)", a next step, unless the sentence ends with one already.
std::string with_next_step(const CLI::App& app, std::string sentence);
// Appends exit codes and environment variables to every subcommand's help.
void add_footers(CLI::App& app);
// The man page validate.1 as roff, made from the flags.
std::string man_page(const CLI::App& app);

}  // namespace assay
