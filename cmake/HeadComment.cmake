# SPDX-License-Identifier: Apache-2.0
# Sets `out` to the head comment of a file, without its licence line, as a C++ raw string.
function(assay_head_comment file out)
  file(READ "${file}" text LIMIT 4096)
  string(REGEX REPLACE "^// SPDX[^\n]*\n" "" text "${text}")
  string(REGEX MATCH "^(//[^\n]*\n)+" comment "${text}")
  string(REGEX REPLACE "(^|\n)// ?" "\\1" comment "${comment}")
  set(${out} "R\"~(${comment})~\"" PARENT_SCOPE)
endfunction()
