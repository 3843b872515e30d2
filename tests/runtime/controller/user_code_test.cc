// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// Exceptions of every function of the user that a controller calls: the observer gets each, a metric counts it, nothing
// is lost, and nothing ends.
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kgen/controller/create_or_update.h"
#include "kgen/controller/finalizers.h"
#include "kgen/controller/wait.h"
#include "tests/runtime/controller/manager_fixture.h"

namespace kgen {
namespace {

using namespace std::chrono_literals;
using k8s::core::v1::ConfigMap;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Builder = ControllerBuilder<ConfigMap>;

// Throws once.
struct Throws {
  void operator()() {
    if (left-- > 0) throw std::runtime_error("broken");
  }
  int left = 1;
};

struct Case {
  std::string name;
  std::string reported;  // by the observer
  std::string counted;   // a line of the metrics
  std::function<Builder(Builder, Throws&)> build = [](Builder builder, Throws&) { return builder; };
  std::function<Result<void>(Request&, Throws&)> reconcile = [](Request&, Throws&) { return Result<void>(); };
};

constexpr char kPanics[] = "controller_runtime_reconcile_panics_total{controller=\"maps\"} 1\n";
constexpr char kErrors[] = "controller_runtime_reconcile_errors_total{controller=\"maps\"} 1\n";
constexpr char kFunctionPanics[] = "kgen_controller_function_panics_total{controller=\"maps\"} 1\n";

class Broken final : public RateLimiter {
 public:
  explicit Broken(Throws& throws) : throws_(throws) {}
  Nanos When(int, TimePoint) override { return throws_(), Nanos(1ms); }

 private:
  Throws& throws_;
};

struct ThrowsWhenCopied {
  explicit ThrowsWhenCopied(Throws& of) : throws(&of) {}
  ThrowsWhenCopied(const ThrowsWhenCopied& other) : throws(other.throws) { (*throws)(); }
  Throws* throws;
};

// Exceptions inside of the reconcile function.
std::vector<Case> ReconcileCases() {
  return {
      {"AReconcileFunction", "the reconcile function threw: broken", kPanics, Case{}.build,
       [](Request&, Throws& throws) { return throws(), Result<void>(); }},
      {"AReconcileFunctionThatThrowsANumber", "threw something that is not a std::exception", kPanics, Case{}.build,
       [](Request&, Throws& throws) {
         if (throws.left-- > 0) throw 7;
         return Result<void>();
       }},
      {"Must", "no such thing", kErrors, Case{}.build,
       [](Request&, Throws& throws) {
         if (throws.left-- > 0) Must(Result<void>(Fail(Code::kNotFound, "no such thing")));
         return Result<void>();
       }},
      {"RequestGet", "the kind is cluster-scoped, and the key has a namespace", kErrors, Case{}.build,
       [](Request& request, Throws& throws) -> Result<void> {
         if (throws.left-- > 0) {
           KGEN_TRY(const auto node, request.Get<k8s::core::v1::Node>());
           ADD_FAILURE() << "a cluster-scoped object with a namespace: " << node->metadata.name;
         }
         return {};
       }},
      {"AValueThatTheFunctionCopies", "the reconcile function threw: broken", kPanics, Case{}.build,
       [](Request&, Throws& throws) {
         const ThrowsWhenCopied value(throws);
         const ThrowsWhenCopied copy(value);
         return Result<void>();
       }},
      {"TheFunctionOfCreateOrUpdate", "the reconcile function threw: broken", kPanics, Case{}.build,
       [](Request& request, Throws& throws) {
         const ConfigMap map{.metadata = {.name = "other", .namespace_ = "default"}};
         return Discard(CreateOrUpdate(request.client(), map, [&](ConfigMap&) { throws(); }));
       }},
      {"TheConditionOfWaitFor", "the reconcile function threw: broken", kPanics, Case{}.build,
       [](Request& request, Throws& throws) {
         int calls = 0;
         return Discard(WaitFor<ConfigMap>(
             Must(request.client().caches().Of<ConfigMap>()), request.key(),
             [&](const Ref<const ConfigMap>&) { return throws(), ++calls > 0; }, request.stop(), 1s));
       }},
      {"TheFunctionOfAFinalizer", "finalizer a.example.com/x: its function threw: broken", kErrors, Case{}.build,
       [](Request&, Throws& throws) {
         Finalizers<ConfigMap> finalizers;
         Must(finalizers.Register("a.example.com/x", [&](ConfigMap&) { return throws(), Result<void>(); }));
         Must(finalizers.Register("a.example.com/y", [&](ConfigMap& map) {
           map.data["y"] = "done";
           return Result<void>();
         }));
         ConfigMap map{.metadata = {.deletionTimestamp = Must(Time::Parse("2024-05-01T10:00:00Z")),
                                    .finalizers = {"a.example.com/x", "a.example.com/y"}}};
         const Finalized done = finalizers.Run(map);
         EXPECT_EQ(map.data["y"], "done") << "an exception must not keep the others from their work";
         return done.result;
       }},
  };
}

// Exceptions of other functions of the user.
std::vector<Case> FunctionCases() {
  return {
      {"APredicateOfWhen", "controller maps, configmaps: a predicate threw: broken", kFunctionPanics,
       [](Builder builder, Throws& throws) {
         return std::move(builder).When(Predicate<ConfigMap>([&](const ConfigMap&) { return throws(), true; }));
       }},
      {"AnEventFilter", "controller maps, configmaps: a predicate threw: broken", kFunctionPanics,
       [](Builder builder, Throws& throws) {
         return std::move(builder).WithEventFilter(
             MatchesMetadata([&](const meta::v1::ObjectMeta&) { return throws(), true; }));
       }},
      {"AFunctionOfWatches", "controller maps, configmaps: the function of Watches() threw: broken", kFunctionPanics,
       [](Builder builder, Throws& throws) {
         return std::move(builder).Watches<ConfigMap>([&](const ConfigMap& map, Requests& requests) {
           requests.Add(map.metadata.namespace_, "mapped");
           throws();
         });
       }},
      {"ARateLimiter", "rate limiter of work queue maps: it threw: broken", kFunctionPanics,
       [](Builder builder, Throws& throws) { return std::move(builder).RateLimiter(MakeShared<Broken>(throws)); },
       [failed = false](Request&, Throws&) mutable -> Result<void> {
         if (std::exchange(failed, true)) return {};
         return Fail(Code::kServer, "not now");
       }},
  };
}

std::vector<Case> Cases() {
  std::vector<Case> cases = ReconcileCases(), functions = FunctionCases();
  for (Case& row : functions) cases.push_back(std::move(row));
  return cases;
}

class UserCodeTest : public ManagerTest {};
INSTANTIATE_TEST_SUITE_P(Functions, UserCodeTest, ::testing::Range<std::uint64_t>(0, Cases().size()),
                         [](const auto& info) { return Cases()[info.param].name; });

TEST_P(UserCodeTest, ThrowsToTheObserverAndIntoAMetricAndTheObjectIsReconciled) {
  const Case row = Cases()[GetParam()];
  AddMap("a");
  Throws throws;
  const Manager manager = New();
  Must(row.build(manager.Control<ConfigMap>("maps"), throws).Reconcile([&](Request& request) -> Result<void> {
    Result<void> result = row.reconcile(request, throws);
    if (result) calls_.push_back(request.key().str());
    return result;
  }));
  const Ran ran = Spawn(manager);
  Settle();
  EXPECT_THAT(calls_, Contains("default/a"));
  std::vector<std::string> told = told_->failures;
  told.insert(told.end(), told_->thrown.begin(), told_->thrown.end());
  EXPECT_THAT(told, Contains(HasSubstr(row.reported)));
  EXPECT_THAT(Must(manager.metrics().Text()), HasSubstr(row.counted));
  EXPECT_LT(throws.left, 1) << "the function was not called";

  calls_.clear();
  AddMap("b");
  Settle();
  EXPECT_THAT(calls_, Contains("default/b"));
  Stop(ran);
}

// Runs a manager whose reconcile function throws once.
template <typename Throw>
void RunThatThrows(Throw throws) {
  testing::Cluster cluster({.observer = NullObserver()});
  Must(cluster.Add(ConfigMap{.metadata = {.name = "a", .namespace_ = "default"}}));
  const Manager manager = Must(Manager::New(cluster.Connection()));
  int calls = 0;
  Must(manager.Control<ConfigMap>("maps").RecoverPanic(false).Reconcile([&](Request&) -> Result<void> {
    if (++calls == 1) throws();
    return {};
  }));
  std::stop_source stop;
  const auto run = cluster.simulation().Spawn([manager, token = stop.get_token()] { return manager.Run(token); });
  cluster.RunUntilIdle();
  stop.request_stop();
  cluster.RunUntilIdle();
  EXPECT_EQ(calls, 2);
}

TEST(CatchExceptionsDeathTest, EndsTheProcessButForAnErrorInTheFormOfAnException) {
  EXPECT_DEATH(RunThatThrows([] { throw std::runtime_error("broken"); }), "broken");
  RunThatThrows([] { Must(Result<void>(Fail(Code::kNotFound, "no such thing"))); });
}

class EventHandlerTest : public ManagerTest {};
INSTANTIATE_TEST_SUITE_P(Seeds, EventHandlerTest, ::testing::Range<std::uint64_t>(0, 3));

TEST_P(EventHandlerTest, ThrowsToTheObserverAndGetsTheNextEvents) {
  const Manager manager = New();
  const auto maps = Must(manager.caches().Of<ConfigMap>());
  Throws throws;
  const CacheRegistration registration = maps.AddEventHandler({.on_add = [&](const Added<ConfigMap>& added) {
    throws();
    calls_.push_back(added.key.str());
  }});
  const Ran ran = Spawn(manager);
  AddMap("a");
  Settle();
  EXPECT_THAT(told_->thrown, ElementsAre("configmaps: broken"));
  AddMap("b");
  Settle();
  EXPECT_THAT(calls_, ElementsAre("default/b"));
  Stop(ran);
}

}  // namespace
}  // namespace kgen
