// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Bodies in protobuf that are no stored object, with bytes that k8s.io/apimachinery 0.36.1 has written: client-go sends
// them by default.
#include <charconv>
#include <string>
#include <string_view>

#include "k8s/scheme.h"
#include "tests/runtime/testing/cluster_fixture.h"

namespace kgen::testing {
namespace {

using ::testing::HasSubstr;

constexpr char kType[] = "application/vnd.kubernetes.protobuf";

// DeleteOptions{GracePeriodSeconds: 7, DryRun: ["All"]}, of v1.
constexpr std::string_view kDryDelete = "6b3873000a130a027631120d44656c6574654f7074696f6e73120708072a03416c6c1a002200";
// DeleteOptions{Preconditions: {UID: "u-1"}}, of apps/v1.
constexpr std::string_view kDeleteOfAnotherUid =
    "6b3873000a180a07617070732f7631120d44656c6574654f7074696f6e73120712050a03752d311a002200";
// Eviction of web-0, with DeleteOptions{GracePeriodSeconds: 0}.
constexpr std::string_view kEviction =
    "6b3873000a150a09706f6c6963792f763112084576696374696f6e12220a1c0a057765622d3012001a0764656661756c7422002a00320038"
    "004200120208001a002200";
// Binding of web-0 to the Node n1.
constexpr std::string_view kBinding =
    "6b3873000a0d0a027631120742696e64696e6712340a1c0a057765622d3012001a0764656661756c7422002a0032003800420012140a044e"
    "6f646512001a026e3122002a0032003a001a002200";
// Scale of web, to 5 replicas.
constexpr std::string_view kScale =
    "6b3873000a170a0e6175746f7363616c696e672f763112055363616c6512260a1a0a0377656212001a0764656661756c7422002a00320038"
    "004200120208051a04080012001a002200";
// TokenRequest{Audiences: ["shop"], ExpirationSeconds: 900}.
constexpr std::string_view kTokenRequest =
    "6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f6b656e5265717565737412230a100a0012001a00"
    "22002a0032003800420012090a0473686f702084071a040a0012001a002200";

std::string Bytes(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned char byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

class ProtobufWritesTest : public ClusterTest {
 protected:
  explicit ProtobufWritesTest(std::span<const TypeTable* const> kinds = k8s::Kinds())
      : ClusterTest({.seed = 1, .kinds = kinds}) {
    Must(cluster_.Add(
        R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0"},"spec":{"containers":[{"name":"c","image":"i"}]}})"));
    Must(cluster_.Add(R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"robot"}})"));
    Must(cluster_.Add(
        R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":1}})"));
  }

  // Sends the body; a refusal goes to `refused`, with the HTTP status in front of it.
  json SendBytes(std::string method, std::string path, std::string body) {
    const auto answer = connection_.Call({.method = std::move(method),
                                          .path = std::move(path),
                                          .content_type = kType,
                                          .body = std::move(body),
                                          .what = "test"});
    refused = answer ? "" : std::to_string(*answer.error().status()->code) + " " + answer.error().ToString();
    return answer ? json::parse(answer->body) : json();
  }
  bool HasPod() { return cluster_.Get("pods", "default", "web-0").has_value(); }

  std::string refused;
};

class ProtobufWritesWithoutKindsTest : public ProtobufWritesTest {
 protected:
  ProtobufWritesWithoutKindsTest() : ProtobufWritesTest(std::span<const TypeTable* const>()) {}
};

constexpr char kWeb0[] = "/api/v1/namespaces/default/pods/web-0";
constexpr char kWeb[] = "/apis/apps/v1/namespaces/default/deployments/web";

TEST_F(ProtobufWritesTest, DeleteOptionsOfGoAreObeyed) {
  SendBytes("DELETE", kWeb0, Bytes(kDryDelete));
  EXPECT_EQ(refused, "");
  EXPECT_TRUE(HasPod()) << "it was a dry run";
  SendBytes("DELETE", kWeb, Bytes(kDeleteOfAnotherUid));
  EXPECT_THAT(refused, HasSubstr("409"));
  EXPECT_THAT(refused, HasSubstr("UID in precondition: u-1"));
}

TEST_F(ProtobufWritesTest, AnEvictionByGoDeletesThePod) {
  SendBytes("POST", std::string(kWeb0) + "/eviction", Bytes(kEviction));
  EXPECT_EQ(refused, "");
  EXPECT_FALSE(HasPod());
}

TEST_F(ProtobufWritesTest, ABindingByGoSetsTheNode) {
  SendBytes("POST", std::string(kWeb0) + "/binding", Bytes(kBinding));
  EXPECT_EQ(refused, "");
  EXPECT_EQ(Get(kWeb0)["spec"]["nodeName"], "n1");
}

TEST_F(ProtobufWritesTest, AScaleByGoSetsTheReplicas) {
  SendBytes("PUT", std::string(kWeb) + "/scale", Bytes(kScale));
  EXPECT_EQ(refused, "");
  EXPECT_EQ(Get(kWeb)["spec"]["replicas"], 5);
}

TEST_F(ProtobufWritesTest, ATokenRequestByGoGetsAToken) {
  const json token = SendBytes("POST", "/api/v1/namespaces/default/serviceaccounts/robot/token", Bytes(kTokenRequest));
  EXPECT_EQ(refused, "");
  EXPECT_EQ(token["spec"]["expirationSeconds"], 900);
  EXPECT_EQ(token["spec"]["audiences"], json::array({"shop"}));
}

TEST_F(ProtobufWritesTest, ABodyThatIsDamagedOrOfAnotherKindIsABadRequestWithTheReason) {
  SendBytes("POST", std::string(kWeb0) + "/eviction", Bytes(kBinding));
  EXPECT_THAT(refused, HasSubstr("400"));
  EXPECT_THAT(refused, HasSubstr("the body is a v1 Binding, but must be a policy/v1 Eviction"));
  SendBytes("DELETE", kWeb0, Bytes(kEviction));
  EXPECT_THAT(refused, HasSubstr("the body is a policy/v1 Eviction, but must be a policy/v1 DeleteOptions"));
  SendBytes("DELETE", kWeb0, "{}");
  EXPECT_THAT(refused, HasSubstr("400"));
  EXPECT_THAT(refused, HasSubstr("the body is not protobuf"));
  EXPECT_TRUE(HasPod());
}

TEST_F(ProtobufWritesWithoutKindsTest, AKindWithoutATableIsAnUnsupportedMediaTypeThatNamesTheOption) {
  SendBytes("POST", std::string(kWeb0) + "/eviction", Bytes(kEviction));
  EXPECT_THAT(refused, HasSubstr("415"));
  EXPECT_THAT(refused, HasSubstr("no table for a policy/v1 Eviction"));
  EXPECT_THAT(refused, HasSubstr("ClusterOptions::kinds"));
  EXPECT_TRUE(HasPod());
  SendBytes("PUT", std::string(kWeb) + "/scale", Bytes(kScale));
  EXPECT_EQ(refused, "") << "Scale and DeleteOptions are known without it";
  SendBytes("DELETE", kWeb0, Bytes(kDryDelete));
  EXPECT_EQ(refused, "");
}

}  // namespace
}  // namespace kgen::testing
