# SPDX-License-Identifier: Apache-2.0
# Who may include whom is held by include paths: each room gets an include root in which it is the only folder, and a
# target gets the roots of the rooms that it may see.
#   reference -> ops    cuda -> ops, cuda    validate library -> ops, validate    command and tests -> all
foreach(room ops reference cuda simt validate)
  set(root "${PROJECT_BINARY_DIR}/rooms/${room}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${room}" "${root}/${room}" SYMBOLIC)
  add_library(assay_room_${room} INTERFACE)
  target_include_directories(assay_room_${room} INTERFACE "${root}")
  # Findings and messages name files as the tree does.
  target_compile_options(assay_room_${room} INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${root}/=>)
endforeach()
