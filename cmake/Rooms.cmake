# SPDX-License-Identifier: Apache-2.0
# Include paths enforce which room may include which: each room gets an include root in which it is the only folder, and a
# target gets the roots of the rooms that it may include.
#   reference -> ops    cuda -> ops, cuda    validate library -> ops, include, validate    command and tests -> all
foreach(room ops reference cuda simt validate include)
  set(root "${PROJECT_BINARY_DIR}/rooms/${room}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${room}" "${root}/${room}" SYMBOLIC)
  add_library(assay_room_${room} INTERFACE)
  target_include_directories(assay_room_${room} INTERFACE "${root}")
  # Messages name files relative to the tree.
  target_compile_options(assay_room_${room} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${root}/=>)
endforeach()
