// SPDX-License-Identifier: Apache-2.0
// Options of the command that name files.  What a command would write must be none of what it reads.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace assay {

// Say of an option that its values name files or folders that the command reads, or files that it writes.  Return it.
CLI::Option* reads_file(CLI::Option*);
CLI::Option* writes_file(CLI::Option*);

// Throws BadInput if a file that a subcommand would write is one that it reads, or lies in a folder that it reads and is there,
// if two outputs are one file, or if a name is empty.
void require_files_apart(const CLI::App& subcommand);

}  // namespace assay
