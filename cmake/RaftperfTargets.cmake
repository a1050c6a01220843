# Targets of this project: one function for a library, one for its tests.

set(RAFTPERF_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")

add_library(raftperf_options INTERFACE)
target_compile_options(raftperf_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wold-style-cast -Wcast-align -Wimplicit-fallthrough -Werror
  -Wno-missing-field-initializers  # designated initialisers name what differs from the default
  -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # gcc 12 warns about std::string's own memcpy (GCC bug 105651).
  target_compile_options(raftperf_options INTERFACE -Wno-restrict)
endif()
target_include_directories(raftperf_options INTERFACE
  ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
if(RAFTPERF_SANITIZE)
  target_compile_options(raftperf_options INTERFACE
    -fsanitize=${RAFTPERF_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(raftperf_options INTERFACE -fsanitize=${RAFTPERF_SANITIZE})
endif()

# raftperf_library(name SOURCES ... USES ...): a static library raftperf_<name>.
# USES lists the only libraries its sources may include from.
function(raftperf_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
  add_library(raftperf_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(raftperf_${name} PUBLIC raftperf_options ${ARG_USES})
endfunction()

# What the sanitizer builds build: every unit and scenario test; those with threads.
add_custom_target(sanitized-tests)
add_custom_target(threaded-tests)

# raftperf_test(name SOURCES ... USES ... [LABELS ...] [THREADED]): a GoogleTest program
# <name>_test, each of its cases a test of its own. Labels: unit (the default), scenario,
# e2e; with THREADED the label is threaded.
function(raftperf_test name)
  if(NOT RAFTPERF_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "THREADED" "" "SOURCES;USES;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT "e2e" IN_LIST ARG_LABELS)
    add_dependencies(sanitized-tests ${name}_test)
  endif()
  if(ARG_THREADED)
    set(ARG_LABELS threaded)  # one label: gtest_discover_tests cannot pass on a list
    add_dependencies(threaded-tests ${name}_test)
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE raftperf_options ${ARG_USES} GTest::gtest_main)
  set_target_properties(${name}_test PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name}_test
    TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 300)
endfunction()
