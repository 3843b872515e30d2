#include "kgen/controller/endpoint.h"
namespace kgen {
class Endpoint::Handle : public SharedObject { public: std::string address; };
Endpoint::Endpoint(Shared<Handle> handle) noexcept : handle_(std::move(handle)) {}
Result<Endpoint> Endpoint::Listen(EndpointOptions) { return Endpoint(MakeShared<Handle>()); }
Result<void> Endpoint::AddHealthCheck(std::string_view, Check) { return {}; }
Result<void> Endpoint::AddReadyCheck(std::string_view, Check) { return {}; }
Result<void> Endpoint::AddDebugSection(std::string_view, Section) { return {}; }
Result<void> Endpoint::Start() { return {}; }
Result<void> Endpoint::Stop(Nanos) { return {}; }
const std::string& Endpoint::address() const noexcept { return handle_->address; }
}
