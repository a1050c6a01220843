// SPDX-License-Identifier: Apache-2.0
//
// libraft's headers for C++: they have no extern "C" of their own. Some of its
// functions and structs share a name; say `struct raft_apply` for the struct.
#pragma once

#include <uv.h>  // First: it has its own extern "C".

extern "C" {
#include <raft.h>
#include <raft/uv.h>
}
