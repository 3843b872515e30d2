// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

#include "bench/reference_pods.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace kgen::bench {

namespace {

// A Mersenne Twister that is seeded and used like CPython's `random`, so that the data equals what the script made with
// which the budgets were first measured.
class Random {
 public:
  explicit Random(std::uint32_t seed) {
    Fill(19650218u);
    std::size_t i = 1;
    for (std::size_t k = kSize; k > 0; --k) {
      state_[i] = (state_[i] ^ (state_[i - 1] ^ state_[i - 1] >> 30) * 1664525u) + seed;
      if (++i == kSize) state_[0] = state_[kSize - 1], i = 1;
    }
    for (std::size_t k = kSize - 1; k > 0; --k) {
      state_[i] = (state_[i] ^ (state_[i - 1] ^ state_[i - 1] >> 30) * 1566083941u) - static_cast<std::uint32_t>(i);
      if (++i == kSize) state_[0] = state_[kSize - 1], i = 1;
    }
    state_[0] = 0x80000000u;
  }

  // Returns a number below n, by rejection sampling.
  std::uint32_t Below(std::uint32_t n) {
    unsigned bits = 0;
    while (n >> bits != 0) ++bits;
    std::uint32_t drawn;
    do drawn = Next() >> (32 - bits);
    while (drawn >= n);
    return drawn;
  }
  int Between(int low, int high) { return low + static_cast<int>(Below(static_cast<std::uint32_t>(high - low + 1))); }
  template <typename T, std::size_t n>
  const T& Choice(const std::array<T, n>& of) {
    return of[Below(n)];
  }
  // Returns random characters of an alphabet, each chosen with 53 random bits.
  std::string Text(std::string_view alphabet, std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
      const std::uint32_t a = Next() >> 5;
      const std::uint32_t b = Next() >> 6;
      const double unit = (a * 67108864.0 + b) / 9007199254740992.0;
      text += alphabet[static_cast<std::size_t>(unit * static_cast<double>(alphabet.size()))];
    }
    return text;
  }

 private:
  static constexpr std::size_t kSize = 624;

  void Fill(std::uint32_t seed) {
    state_[0] = seed;
    for (std::size_t i = 1; i < kSize; ++i) {
      state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + static_cast<std::uint32_t>(i);
    }
  }
  std::uint32_t Next() {
    if (next_ == kSize) {
      for (std::size_t i = 0; i < kSize; ++i) {
        const std::uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7FFFFFFFu);
        state_[i] = state_[(i + 397) % kSize] ^ y >> 1 ^ ((y & 1) != 0 ? 0x9908B0DFu : 0u);
      }
      next_ = 0;
    }
    std::uint32_t y = state_[next_++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
  }

  std::array<std::uint32_t, kSize> state_{};
  std::size_t next_ = kSize;
};

// Fills $0, $1, ... of a template.
std::string Format(std::string_view text, std::initializer_list<std::string_view> values) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9') {
      result += values.begin()[text[++i] - '0'];
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string Joined(const std::vector<std::string>& parts) {
  std::string result;
  for (const std::string& part : parts) result.append(result.empty() ? "" : ",").append(part);
  return result;
}

// The data that the pods of one ReplicaSet have in common.
struct ReplicaSet {
  std::string team, component, app, space, name, uid, hash, version, image, image_digest, side_digest, environment;
  std::string labels, annotations;
};

class Generator {
 public:
  explicit Generator(std::size_t count) : count_(count) {
    for (std::size_t i = 0; i < (count / 60 > 10 ? count / 60 : 10); ++i) {
      nodes_.push_back("ip-10-" + std::to_string(i / 250) + "-" + std::to_string(i % 250) + "-" +
                       std::to_string(random_.Between(2, 250)) + ".eu-west-1.compute.internal");
    }
  }

  std::vector<std::string> All() {
    constexpr int kPodsPerReplicaSet = 20;
    std::vector<std::string> pods;
    while (pods.size() < count_) {
      const ReplicaSet set = MakeReplicaSet();
      for (int i = 0; i < kPodsPerReplicaSet && pods.size() < count_; ++i) pods.push_back(Pod(set));
    }
    return pods;
  }

 private:
  std::string Hex(std::size_t n) { return random_.Text("0123456789abcdef", n); }
  std::string Suffix(std::size_t n) { return random_.Text("bcdfghjklmnpqrstvwxz2456789", n); }
  std::string Uid() {
    const std::string h = Hex(32);
    return h.substr(0, 8) + "-" + h.substr(8, 4) + "-4" + h.substr(13, 3) + "-a" + h.substr(17, 3) + "-" + h.substr(20);
  }
  std::string Number(int low, int high) { return std::to_string(random_.Between(low, high)); }
  std::string Time() {
    std::string text = "2026-0" + Number(1, 9);
    text += "-" + Number(10, 28);
    text += "T" + Number(10, 23);
    text += ":" + Number(10, 59);
    return text + ":" + Number(10, 59) + "Z";
  }

  ReplicaSet MakeReplicaSet();
  std::string Environment(const ReplicaSet& set, int count);
  std::string Containers(const ReplicaSet& set, const std::string& mount);
  std::string ContainerStatus(std::string_view name, std::string_view image, std::string_view digest,
                              std::string_view start);
  std::string ManagedFields(const ReplicaSet& set, std::string_view created, std::string_view ready,
                            std::string_view ip);
  std::string Spec(const ReplicaSet& set, const std::string& account_volume, const std::string& node);
  std::string Pod(const ReplicaSet& set);

  Random random_{42};
  std::size_t count_;
  std::vector<std::string> nodes_;
  long version_ = 10'000'000;
};

ReplicaSet Generator::MakeReplicaSet() {
  static constexpr std::array<std::string_view, 10> kTeams = {"payments",  "checkout", "search",  "identity",
                                                              "inventory", "shipping", "catalog", "analytics",
                                                              "messaging", "edge"};
  static constexpr std::array<std::string_view, 8> kComponents = {"api",       "worker",   "frontend", "gateway",
                                                                  "scheduler", "consumer", "indexer",  "cache"};
  static constexpr std::array<std::string_view, 3> kStages = {"prod", "staging", "dev"};
  ReplicaSet set;
  set.team = random_.Choice(kTeams);
  set.component = random_.Choice(kComponents);
  set.app = set.team + "-" + set.component + "-" + Number(1, 400);
  set.space = set.team + "-" + std::string(random_.Choice(kStages));
  set.hash = Suffix(10);
  set.name = set.app + "-" + set.hash;
  set.uid = Uid();
  set.version = "v" + Number(1, 9);
  set.version += "." + Number(0, 40);
  set.version += "." + Number(0, 20);
  set.labels = Format(
      R"("app.kubernetes.io/name":"$0","app.kubernetes.io/instance":"$0-$1","app.kubernetes.io/version":"$2","app.kubernetes.io/component":"$3","team":"$4","pod-template-hash":"$5")",
      {set.app, set.space, set.version, set.component, set.team, set.hash});
  const std::string checksum = Hex(64);
  set.annotations =
      Format(R"("prometheus.io/scrape":"true","checksum/config":"$0","kubectl.kubernetes.io/restartedAt":"$1")",
             {checksum, Time()});
  set.image = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/" + set.team + "/" + set.component + ":" + set.version;
  set.image_digest = Hex(64);
  set.side_digest = Hex(64);
  set.environment = Environment(set, random_.Between(8, 12));
  return set;
}

std::string Generator::Environment(const ReplicaSet& set, int count) {
  const std::pair<std::string_view, std::string> plain[] = {
      {"LOG_LEVEL", "info"},
      {"HTTP_PORT", "8080"},
      {"DATABASE_HOST", set.team + "-db.prod.internal.example.com"},
      {"DATABASE_NAME", set.team + "_" + set.component},
      {"REDIS_URL", "redis://" + set.team + "-redis." + set.space + ".svc.cluster.local:6379/0"},
      {"OTEL_EXPORTER_OTLP_ENDPOINT", "http://otel-collector.observability.svc:4317"},
      {"OTEL_SERVICE_NAME", set.app},
      {"FEATURE_FLAGS", R"(a=on,b=off,c=\"x\")"},
      {"GOMEMLIMIT", "1GiB"},
      {"JAVA_TOOL_OPTIONS", "-XX:MaxRAMPercentage=75 -XX:+UseG1GC"}};
  std::vector<std::string> variables;
  for (int i = 0; i < count - 3; ++i) {
    variables.push_back(Format(R"({"name":"$0","value":"$1"})", {plain[i].first, plain[i].second}));
  }
  constexpr std::string_view kField = R"({"name":"$0","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"$1"}}})";
  variables.push_back(Format(kField, {"POD_NAME", "metadata.name"}));
  variables.push_back(Format(kField, {"POD_IP", "status.podIP"}));
  variables.push_back(Format(
      R"({"name":"DATABASE_PASSWORD","valueFrom":{"secretKeyRef":{"name":"$0-db","key":"password"}}})", {set.app}));
  return Joined(variables);
}

std::string Generator::Containers(const ReplicaSet& set, const std::string& mount) {
  constexpr std::string_view kProbe =
      R"({"httpGet":{"path":"$0","port":"http","scheme":"HTTP"},"initialDelaySeconds":$1,"timeoutSeconds":5,"periodSeconds":10,"successThreshold":1,"failureThreshold":3})";
  constexpr std::string_view kTail =
      R"("terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent")";
  const std::string init =
      Format(R"({"name":"migrate","image":"$0","command":["/app/migrate","up"],"resources":{},"volumeMounts":[$1],$2})",
             {set.image, mount, kTail});
  const std::string main = Format(
      R"({"name":"$0","image":"$1","args":["--config","/etc/app/config.yaml","--listen=:8080"],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"},{"name":"metrics","containerPort":9090,"protocol":"TCP"}],"env":[$2],"resources":{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"250m","memory":"512Mi"}},"volumeMounts":[{"name":"config","readOnly":true,"mountPath":"/etc/app"},{"name":"tmp","mountPath":"/tmp"},$3],"livenessProbe":$4,"readinessProbe":$5,$6,"securityContext":{"capabilities":{"drop":["ALL"]},"runAsNonRoot":true,"readOnlyRootFilesystem":true,"allowPrivilegeEscalation":false}})",
      {set.component, set.image, set.environment, mount, Format(kProbe, {"/healthz", "15"}),
       Format(kProbe, {"/ready", "5"}), kTail});
  const std::string side = Format(
      R"({"name":"log-agent","image":"registry.example.com/platform/fluent-bit:2.2.0","ports":[{"name":"fb-metrics","containerPort":2020,"protocol":"TCP"}],"env":[{"name":"NODE_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"spec.nodeName"}}}],"resources":{"limits":{"memory":"128Mi"},"requests":{"cpu":"50m","memory":"64Mi"}},"volumeMounts":[{"name":"tmp","mountPath":"/var/log/app"},$0],$1})",
      {mount, kTail});
  return Format(R"("initContainers":[$0],"containers":[$1,$2])", {init, main, side});
}

std::string Generator::ContainerStatus(std::string_view name, std::string_view image, std::string_view digest,
                                       std::string_view start) {
  static constexpr std::array<std::string_view, 5> kRestarts = {"0", "0", "0", "1", "4"};
  const std::string_view restarts = random_.Choice(kRestarts);
  return Format(
      R"({"name":"$0","state":{"running":{"startedAt":"$1"}},"lastState":{},"ready":true,"restartCount":$2,"image":"$3","imageID":"$4@sha256:$5","containerID":"containerd://$6","started":true})",
      {name, start, restarts, image, image.substr(0, image.rfind(':')), digest, Hex(64)});
}

std::string Generator::ManagedFields(const ReplicaSet& set, std::string_view created, std::string_view ready,
                                     std::string_view ip) {
  const std::string controller = Format(
      R"({"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"$0","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/scrape":{},"f:checksum/config":{},"f:kubectl.kubernetes.io/restartedAt":{}},"f:generateName":{},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/instance":{},"f:app.kubernetes.io/version":{},"f:app.kubernetes.io/component":{},"f:team":{},"f:pod-template-hash":{}},"f:ownerReferences":{".":{},"k:{\"uid\":\"$1\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"$2\"}":{".":{},"f:args":{},"f:env":{".":{},"k:{\"name\":\"LOG_LEVEL\"}":{".":{},"f:name":{},"f:value":{}},"k:{\"name\":\"HTTP_PORT\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:livenessProbe":{".":{},"f:failureThreshold":{},"f:httpGet":{".":{},"f:path":{},"f:port":{},"f:scheme":{}}},"f:name":{},"f:resources":{}}},"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:volumes":{".":{},"k:{\"name\":\"config\"}":{".":{},"f:configMap":{".":{},"f:defaultMode":{},"f:name":{}},"f:name":{}}}}}})",
      {created, set.uid, set.component});
  std::vector<std::string> conditions;
  for (const std::string_view type : {"ContainersReady", "Initialized", "Ready"}) {
    conditions.push_back(Format(
        R"("k:{\"type\":\"$0\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}})",
        {type}));
  }
  const std::string kubelet = Format(
      R"({"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"$0","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:conditions":{$1},"f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"$2\"}":{".":{},"f:ip":{}}},"f:startTime":{}}},"subresource":"status"})",
      {ready, Joined(conditions), ip});
  return controller + "," + kubelet;
}

std::string Generator::Spec(const ReplicaSet& set, const std::string& account_volume, const std::string& node) {
  const std::string mount = Format(
      R"({"name":"$0","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"})", {account_volume});
  const std::string volumes = Format(
      R"("volumes":[{"name":"config","configMap":{"name":"$0-config","defaultMode":420}},{"name":"tmp","emptyDir":{}},{"name":"$1","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}])",
      {set.app, account_volume});
  constexpr std::string_view kToleration =
      R"({"key":"node.kubernetes.io/$0","operator":"Exists","effect":"NoExecute","tolerationSeconds":300})";
  return Format(
      R"({$0,$1,"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"$2","serviceAccount":"$2","nodeName":"$3","securityContext":{"fsGroup":1000},"schedulerName":"default-scheduler","tolerations":[$4,$5],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"})",
      {volumes, Containers(set, mount), set.app, node, Format(kToleration, {"not-ready"}),
       Format(kToleration, {"unreachable"})});
}

// Draws the random numbers in the same order as the script.
std::string Generator::Pod(const ReplicaSet& set) {
  version_ += random_.Between(1, 50);
  const std::string name = set.name + "-" + Suffix(5);
  const std::string account_volume = "kube-api-access-" + Suffix(5);
  const std::string node = nodes_[random_.Below(static_cast<std::uint32_t>(nodes_.size()))];
  std::string ip = "10." + Number(100, 200);
  ip += "." + Number(0, 255);
  ip += "." + Number(1, 254);
  std::string host = "10." + Number(0, 9);
  host += "." + Number(0, 255);
  host += "." + Number(1, 254);
  const std::string created = Time();
  const std::string started = Time();
  const std::string ready = Time();
  const std::string uid = Uid();
  const std::string metadata = Format(
      R"({"name":"$0","generateName":"$1-","namespace":"$2","uid":"$3","resourceVersion":"$4","generation":1,"creationTimestamp":"$5","labels":{$6},"annotations":{$7},$8,"managedFields":[$9]})",
      {name, set.name, set.space, uid, std::to_string(version_), created, set.labels, set.annotations,
       Format(
           R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"$0","uid":"$1","controller":true,"blockOwnerDeletion":true}])",
           {set.name, set.uid}),
       ManagedFields(set, created, ready, ip)});
  std::vector<std::string> conditions;
  for (const auto& [type, time] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{{"PodReadyToStartContainers", started},
                                                                            {"Initialized", started},
                                                                            {"Ready", ready},
                                                                            {"ContainersReady", ready},
                                                                            {"PodScheduled", created}}) {
    conditions.push_back(
        Format(R"({"type":"$0","observedGeneration":1,"status":"True","lastProbeTime":null,"lastTransitionTime":"$1"})",
               {type, time}));
  }
  const std::string init_id = Hex(64);
  const std::string init_container = Hex(64);
  const std::string init = Format(
      R"({"name":"migrate","state":{"terminated":{"exitCode":0,"reason":"Completed","startedAt":"$0","finishedAt":"$1","containerID":"containerd://$2"}},"lastState":{},"ready":true,"restartCount":0,"image":"$3","imageID":"$4@sha256:$5","containerID":"containerd://$6","started":false})",
      {started, ready, init_id, set.image, std::string_view(set.image).substr(0, set.image.rfind(':')),
       set.image_digest, init_container});
  const std::string main = ContainerStatus(set.component, set.image, set.image_digest, ready);
  const std::string side =
      ContainerStatus("log-agent", "registry.example.com/platform/fluent-bit:2.2.0", set.side_digest, ready);
  const std::string status = Format(
      R"({"observedGeneration":1,"phase":"Running","conditions":[$0],"hostIP":"$1","hostIPs":[{"ip":"$1"}],"podIP":"$2","podIPs":[{"ip":"$2"}],"startTime":"$3","initContainerStatuses":[$4],"containerStatuses":[$5,$6],"qosClass":"Burstable"})",
      {Joined(conditions), host, ip, created, init, main, side});
  return Format(R"({"metadata":$0,"spec":$1,"status":$2})", {metadata, Spec(set, account_volume, node), status});
}

constexpr std::size_t kSecondsInTime = 17;  // their position in 2026-01-02T03:04:05Z
constexpr std::string_view kVersionMember = R"("resourceVersion":")";

// Sets the seconds of the time that follows `marker`.
void SetSeconds(std::string& pod, std::size_t from, std::string_view marker, std::size_t n) {
  const std::size_t at = pod.find(marker, from);
  if (at == std::string::npos) return;
  pod[at + marker.size() + kSecondsInTime] = static_cast<char>('0' + n / 10 % 6);
  pod[at + marker.size() + kSecondsInTime + 1] = static_cast<char>('0' + n % 10);
}

}  // namespace

std::vector<std::string> ReferencePods(std::size_t count) { return Generator(count).All(); }

std::vector<std::string> ListedPods(std::size_t count) {
  std::vector<std::string> pods = ReferencePods(count);
  const auto member = [](const std::string& pod, std::string_view before) {
    const std::size_t at = pod.find(before) + before.size();
    return pod.substr(at, pod.find('"', at) - at);
  };
  std::ranges::sort(pods, {}, [&](const std::string& pod) {
    return member(pod, R"("namespace":")") + '/' + member(pod, R"("name":")");
  });
  return pods;
}

void AdvancePod(std::string& pod, long version, std::size_t n) {
  const std::size_t at = pod.find(kVersionMember) + kVersionMember.size();
  pod.replace(at, pod.find('"', at) - at, std::to_string(version));
  SetSeconds(pod, pod.find(R"("manager":"kubelet")"), R"("time":")", n);
  const std::size_t status = pod.find(R"("conditions":[{)");
  SetSeconds(pod, status, R"("lastTransitionTime":")", n);
  constexpr std::string_view kRestarts = R"("restartCount":)";
  pod[pod.rfind(kRestarts) + kRestarts.size()] = static_cast<char>('0' + n % 10);
}

std::string AsEvents(const std::vector<std::string>& pods) {
  std::string text;
  for (const std::string& pod : pods) {
    text += R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",)" + pod.substr(1) + "}\n";
  }
  return text;
}

std::string AsArray(const std::vector<std::string>& pods) {
  std::string text = "[";
  for (const std::string& pod : pods) {
    if (text.size() > 1) text += ',';
    text += pod;
  }
  return text + "]";
}

}  // namespace kgen::bench
