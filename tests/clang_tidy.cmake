# clang-tidy, warnings as errors: on the sources that the last commit or the work tree
# changed, or with -DALL=ON on all of them.
cmake_minimum_required(VERSION 3.25)
if(ALL)
  execute_process(COMMAND git ls-files *.cc OUTPUT_VARIABLE files COMMAND_ERROR_IS_FATAL ANY)
else()
  execute_process(COMMAND git diff --name-only --diff-filter=d HEAD~1 -- *.cc
    OUTPUT_VARIABLE files ERROR_QUIET)
endif()
string(STRIP "${files}" files)
string(REPLACE "\n" ";" files "${files}")
list(FILTER files EXCLUDE REGEX "_bench\\.cc$|_test\\.cc$|^tests/")
# A change of everything is for `make tidy-all`: the longest list that fits the budget.
list(LENGTH files count)
if(NOT ALL AND count GREATER 10)
  list(SUBLIST files 0 10 files)
  message(STATUS "${count} changed files; the first 10 are checked, the rest by make tidy-all")
endif()
if(files)
  # The compile commands are gcc's, whose own warning options clang does not know.
  execute_process(COMMAND run-clang-tidy -p ${BUILD} -quiet
    -extra-arg=-Wno-unknown-warning-option ${files} ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
endif()
