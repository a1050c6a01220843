# Every suite of `make test`, one after the other; a failing one does not keep the next
# from running. Leaves "N passed, N failed, N skipped" over all of them in summary.txt.
#   cmake -DBUILD=build -P tests/run_suites.cmake
cmake_minimum_required(VERSION 3.25)

set(root ${CMAKE_CURRENT_LIST_DIR}/..)
if(NOT BUILD)
  set(BUILD build)
endif()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set(passed 0)
set(failed 0)
set(skipped 0)
set(skips "")

# count(junit): adds a ctest result file to the totals and names what was skipped.
macro(count junit)
  file(READ ${junit} xml)
  string(REGEX MATCH "tests=\"([0-9]+)\"" _ "${xml}")
  set(all ${CMAKE_MATCH_1})
  string(REGEX MATCH "failures=\"([0-9]+)\"" _ "${xml}")
  set(bad ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "<testcase name=\"[^\"]*\"[^>]*status=\"(notrun|disabled)\"" cases "${xml}")
  list(LENGTH cases quiet)
  foreach(case IN LISTS cases)
    string(REGEX REPLACE "<testcase name=\"([^\"]*)\".*" "\\1" name "${case}")
    list(APPEND skips "${name}")
  endforeach()
  math(EXPR passed "${passed} + ${all} - ${bad} - ${quiet}")
  math(EXPR failed "${failed} + ${bad}")
  math(EXPR skipped "${skipped} + ${quiet}")
endmacro()

# suite(name BUDGET minutes COMMAND ...): one check that passes or fails as a whole.
function(suite name)
  cmake_parse_arguments(ARG "" "BUDGET;JUNIT" "COMMAND" ${ARGN})
  message(STATUS "=== ${name} (budget ${ARG_BUDGET} min)")
  string(TIMESTAMP start "%s" UTC)
  math(EXPR limit "${ARG_BUDGET} * 60 * 2")
  execute_process(COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${root} RESULT_VARIABLE result
    TIMEOUT ${limit})
  string(TIMESTAMP end "%s" UTC)
  math(EXPR seconds "${end} - ${start}")
  message(STATUS "=== ${name}: ${seconds} s, exit ${result}")
  if(ARG_JUNIT AND EXISTS ${ARG_JUNIT})
    count(${ARG_JUNIT})
  elseif(result EQUAL 0)
    math(EXPR passed "${passed} + 1")
  else()
    math(EXPR failed "${failed} + 1")
    message(STATUS "=== ${name} FAILED")
  endif()
  foreach(total passed failed skipped skips)
    set(${total} "${${total}}" PARENT_SCOPE)
  endforeach()
endfunction()

# tests(name BUDGET minutes DIR build-dir ARGS ...): a ctest run, its cases counted.
macro(tests name budget dir)
  file(REMOVE ${root}/${dir}/junit.xml)
  suite("${name}" BUDGET ${budget} JUNIT ${root}/${dir}/junit.xml
    COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${dir} --output-on-failure --no-tests=error
      -j ${cores} --output-junit junit.xml ${ARGN})
endmacro()

macro(build name budget preset dir)
  suite("configure ${name}" BUDGET 3 COMMAND ${CMAKE_COMMAND} --preset ${preset} -B ${dir})
  suite("build ${name}" BUDGET ${budget}
    COMMAND ${CMAKE_COMMAND} --build ${dir} -j ${cores} ${ARGN})
endmacro()

build("release" 12 release ${BUILD})
tests("unit and scenario tests" 3 ${BUILD} -L "unit|scenario|threaded")
tests("end-to-end tests" 8 ${BUILD} -L e2e)
build("with address and undefined sanitizers" 10 asan build-asan --target sanitized-tests)
tests("unit and scenario tests, ASan + UBSan" 4 build-asan -L "unit|scenario|threaded")
build("with the thread sanitizer" 6 tsan build-tsan --target threaded-tests)
tests("run and drivers, TSan" 3 build-tsan -L threaded)
suite("clang-format" BUDGET 1 COMMAND ${CMAKE_COMMAND} -P tests/clang_format.cmake)
suite("clang-tidy on changed files" BUDGET 6
  COMMAND ${CMAKE_COMMAND} -DBUILD=${BUILD} -P tests/clang_tidy.cmake)

foreach(name IN LISTS skips)
  message(STATUS "skipped: ${name}")
endforeach()
file(WRITE ${root}/${BUILD}/summary.txt "${passed} passed, ${failed} failed, ${skipped} skipped\n")
if(failed GREATER 0)
  message(FATAL_ERROR "a suite failed")
endif()
