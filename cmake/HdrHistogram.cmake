# HdrHistogram_c: an installed one first; otherwise the C sources that the npm
# package native-hdr-histogram ships, fetched at configure time and checked.
# Debian 12 has no package of it. The result is the target hdr_histogram::raftperf.

find_package(hdr_histogram CONFIG QUIET)
if(TARGET hdr_histogram::hdr_histogram_static)
  add_library(hdr_histogram::raftperf ALIAS hdr_histogram::hdr_histogram_static)
  return()
endif()

set(hdr_package native-hdr-histogram)
set(hdr_version 1.0.0)
set(hdr_sha256 eb6feca66739e670eac90d41fbbe69a6eb084491f3e7cf8556d31ac651c1d600)
set(hdr_dir ${CMAKE_BINARY_DIR}/_deps/hdr_histogram)
set(hdr_archive ${hdr_dir}/${hdr_package}-${hdr_version}.tgz)

if(NOT EXISTS ${hdr_archive})
  find_program(NPM npm)
  if(NOT NPM)
    message(FATAL_ERROR "HdrHistogram_c is not installed and npm, which fetches its sources, is missing.\n"
      "Run: make deps   (or: apt-get install --no-install-recommends npm)")
  endif()
  file(MAKE_DIRECTORY ${hdr_dir})
  execute_process(COMMAND ${NPM} pack --silent ${hdr_package}@${hdr_version}
    WORKING_DIRECTORY ${hdr_dir} RESULT_VARIABLE hdr_failed ERROR_VARIABLE hdr_error OUTPUT_QUIET)
  if(hdr_failed)
    message(FATAL_ERROR "npm pack ${hdr_package}@${hdr_version} failed: ${hdr_error}")
  endif()
endif()
file(SHA256 ${hdr_archive} hdr_actual_sha256)
if(NOT hdr_actual_sha256 STREQUAL hdr_sha256)
  file(REMOVE ${hdr_archive})
  message(FATAL_ERROR "${hdr_archive} has sha256 ${hdr_actual_sha256}, expected ${hdr_sha256}")
endif()
set(hdr_src ${hdr_dir}/package/HdrHistogram_c/src)
if(NOT EXISTS ${hdr_src}/hdr_histogram.c)
  file(ARCHIVE_EXTRACT INPUT ${hdr_archive} DESTINATION ${hdr_dir} PATTERNS "package/HdrHistogram_c/*")
endif()

# Included as <hdr/hdr_histogram.h>, as an installed HdrHistogram_c is.
file(GLOB hdr_headers ${hdr_src}/*.h)
file(COPY ${hdr_headers} DESTINATION ${hdr_dir}/include/hdr)

find_package(ZLIB REQUIRED)
add_library(raftperf_hdr_histogram STATIC
  ${hdr_src}/hdr_encoding.c ${hdr_src}/hdr_histogram.c ${hdr_src}/hdr_histogram_log.c
  ${hdr_src}/hdr_time.c)
target_include_directories(raftperf_hdr_histogram SYSTEM PUBLIC ${hdr_dir}/include)
target_link_libraries(raftperf_hdr_histogram PUBLIC ZLIB::ZLIB m)
add_library(hdr_histogram::raftperf ALIAS raftperf_hdr_histogram)
