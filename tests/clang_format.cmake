# Every C++ file is formatted as .clang-format says.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git ls-files *.h *.cc OUTPUT_VARIABLE files COMMAND_ERROR_IS_FATAL ANY)
string(STRIP "${files}" files)
string(REPLACE "\n" ";" files "${files}")
execute_process(COMMAND clang-format --dry-run -Werror ${files} COMMAND_ERROR_IS_FATAL ANY)
