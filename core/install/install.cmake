# install - what `cmake --install` puts where, and `--target uninstall` takes away again.
#
# Three components: runtime (fq itself, its manuals, completions, unit and examples), redis (fq-redis, which fq goes
# on as for a queue on a server; where FQ_REDIS is on) and development (what a C++ program needs to speak to a queue).
# The places are those of GNUInstallDirs, below the prefix.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- runtime

install(TARGETS fq RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
foreach(section 1 5 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  list(REMOVE_ITEM pages ${CMAKE_SOURCE_DIR}/man/fq-redis.7)
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT runtime)
endforeach()
install(FILES completions/fq.bash RENAME fq
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
install(FILES completions/_fq DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT runtime)
install(FILES completions/fq.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT runtime)
# Where systemd looks below /usr and /usr/local; never below LIBDIR, which may be of one architecture.
install(FILES core/install/fq-worker@.service DESTINATION lib/systemd/system COMPONENT runtime)
file(GLOB stories CONFIGURE_DEPENDS examples/*.sh)
list(REMOVE_ITEM stories ${CMAKE_SOURCE_DIR}/examples/story.sh)  # sourced by them
install(PROGRAMS ${stories} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT runtime)
file(GLOB units CONFIGURE_DEPENDS examples/*.service examples/*.timer)
install(FILES examples/story.sh ${units} DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT runtime)
install(FILES CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# ---- redis

# Beside fq, which looks there: an administrator of a server types its name.
if(FQ_REDIS)
  install(TARGETS fq-redis RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT redis)
  install(FILES man/fq-redis.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7 COMPONENT redis)
  # Bash and fish look for a file of the command's name.
  install(FILES completions/fq.bash RENAME fq-redis
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT redis)
  install(FILES completions/fq-redis.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT redis)
endif()

# ---- development

# One library of all rooms that open_queue needs, of the objects of fq. What is in them for the optimiser of links
# only this very compiler reads: that is taken out.
add_library(fq_library STATIC $<TARGET_OBJECTS:fq_local_engines>)
foreach(room IN LISTS library_rooms)
  target_sources(fq_library PRIVATE $<TARGET_OBJECTS:fq_${room}>)
endforeach()
add_library(fq::fq ALIAS fq_library)
set_target_properties(fq_library PROPERTIES OUTPUT_NAME fq EXPORT_NAME fq LINKER_LANGUAGE CXX)
target_compile_features(fq_library INTERFACE cxx_std_20)
find_package(Threads REQUIRED)
target_link_libraries(fq_library INTERFACE Threads::Threads)
if(CMAKE_BUILD_TYPE STREQUAL Release)
  add_custom_command(TARGET fq_library POST_BUILD COMMAND ${CMAKE_STRIP} --enable-deterministic-archives
    --strip-debug -w -R .comment -R ".gnu.lto_*" -R ".gnu.debuglto_*" -N __gnu_lto_slim -N __gnu_lto_v1 $<TARGET_FILE:fq_library>)
endif()

# The public headers are the door and what it includes, no more. In the tree they are core/...; installed
# they are <fq/api/queue.h> and name each other so: a program may have a core/ of its own.
set(headers ${CMAKE_BINARY_DIR}/include)
function(fq_public_header path)
  string(REGEX REPLACE "^core/" "fq/" public ${path})
  if(EXISTS ${headers}/${public})
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${path})
  file(READ ${CMAKE_SOURCE_DIR}/${path} text)
  string(REGEX REPLACE "core/(api|base|policy)/" "fq/\\1/" text "${text}")
  file(WRITE ${headers}/${public} "${text}")
  file(STRINGS ${CMAKE_SOURCE_DIR}/${path} includes REGEX "^#include \"core/")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" include ${include})
    fq_public_header(${include})
  endforeach()
endfunction()
file(REMOVE_RECURSE ${headers})
fq_public_header(core/api/queue.h)
fq_public_header(core/base/sort_key.h)  # NewMessage::key is made by it
fq_public_header(core/policy/policy.h)  # for programs that follow fq.toml as the commands do
fq_public_header(core/policy/followed_queue.h)
install(DIRECTORY ${headers}/fq DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
target_include_directories(fq_library INTERFACE
  $<BUILD_INTERFACE:${headers}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS fq_library EXPORT fq ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
set(package_place ${CMAKE_INSTALL_LIBDIR}/cmake/fq)
install(EXPORT fq NAMESPACE fq:: FILE fq-targets.cmake DESTINATION ${package_place} COMPONENT development)
configure_package_config_file(core/install/fq-config.cmake.in fq-config.cmake INSTALL_DESTINATION ${package_place})
# Before 1.0 a new minor version may change the door.
write_basic_package_version_file(fq-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/fq-config.cmake ${CMAKE_BINARY_DIR}/fq-config-version.cmake
  DESTINATION ${package_place} COMPONENT development)

# fq.pc finds its prefix from where it lies, so that a tree that was moved, or staged by DESTDIR, still works.
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY /prefix OUTPUT_VARIABLE from)
cmake_path(APPEND from pkgconfig)
cmake_path(RELATIVE_PATH from BASE_DIRECTORY /prefix OUTPUT_VARIABLE depth)
string(REGEX REPLACE "[^/]+" ".." PC_UP "${depth}")
set(PC_PREFIX "\${pcfiledir}/${PC_UP}")
set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
endif()
configure_file(core/install/fq.pc.in fq.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/fq.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(DIRECTORY examples/library DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT development)

# ---- away again

configure_file(core/install/uninstall.cmake.in uninstall.cmake @ONLY)
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${CMAKE_BINARY_DIR}/uninstall.cmake)
