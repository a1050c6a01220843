// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <gtest/gtest.h>

namespace raftperf::net {
namespace {

TEST(Endpoint, ReadsHostAndPort) {
  EXPECT_EQ(*parse_endpoint("127.0.0.1:8300"), (Endpoint{"127.0.0.1", 8300}));
  EXPECT_EQ(*parse_endpoint("localhost:1"), (Endpoint{"localhost", 1}));
  EXPECT_EQ(*parse_endpoint("[::1]:65535"), (Endpoint{"::1", 65535}));
}

TEST(Endpoint, PrintsWhatItRead) {
  for (const char* text : {"127.0.0.1:8300", "[::1]:8300", "node-0.example:21001"}) {
    EXPECT_EQ(to_string(*parse_endpoint(text)), text);
  }
}

TEST(Endpoint, PortZeroIsForListeningOnly) {
  EXPECT_EQ(*parse_listen_endpoint("127.0.0.1:0"), (Endpoint{"127.0.0.1", 0}));
  EXPECT_EQ(*parse_listen_endpoint("[::1]:8300"), (Endpoint{"::1", 8300}));
  EXPECT_FALSE(parse_endpoint("127.0.0.1:0").ok());
  EXPECT_FALSE(parse_listen_endpoint("127.0.0.1:-1").ok());
  EXPECT_FALSE(parse_listen_endpoint("127.0.0.1:").ok());
}

// cases C65: the faults other tools had with IPv6 literals and missing ports.
TEST(Endpoint, RefusesWhatIsAmbiguousOrMalformed) {
  for (const char* text : {"", ":", "localhost", "::1", "::1:80", "[::1", "[::1]", "[]:80", ":80",
                           "a:0", "a:65536", "a:-1", "a:1x", "a: 1", "a b:1", "[::1]x:1"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_FALSE(endpoint.ok()) << text;
    EXPECT_NE(endpoint.error().find("example"), std::string::npos);
  }
}

TEST(Endpoint, ReadsAList) {
  const auto list = parse_endpoints("a:1,[::1]:2");
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[1], (Endpoint{"::1", 2}));
  EXPECT_FALSE(parse_endpoints("a:1,").ok());
  EXPECT_FALSE(parse_endpoints("").ok());
}

}  // namespace
}  // namespace raftperf::net
