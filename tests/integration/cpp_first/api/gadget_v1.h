// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
//
// An API with every marker and type of kgen-crd. ../../controller_gen/v1/gadget.go is the same API in Go, with the same
// comments.
#ifndef KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1_H_
#define KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1_H_

#include <cstdint>

#include "kgen/core/enum.h"
#include "kgen/core/json.h"
#include "kgen/core/object.h"
#include "kgen/core/object_meta.h"
#include "kgen/core/quantity.h"
#include "kgen/core/time.h"

namespace parts::gadgets::v1 {

// How big a gadget is.
enum class Size { kSmall, kBig, kExtraLarge /* +kgen:name=XL */ };

// Numbers and their limits.
struct Numbers {
  // +kgen:minimum=3
  kgen::Optional<std::int32_t> minimum{};
  // +kgen:maximum=5
  kgen::Optional<std::int64_t> maximum{};
  // +kgen:minimum=0
  // +kgen:exclusiveMinimum=true
  kgen::Optional<double> exclusiveMinimum{};
  // +kgen:maximum=1
  // +kgen:exclusiveMaximum=true
  kgen::Optional<double> exclusiveMaximum{};
  // +kgen:multipleOf=5
  kgen::Optional<std::int32_t> multipleOf{};
  // +kgen:enum=1;2;3
  kgen::Optional<std::int32_t> enumerated{};
  KGEN_OBJECT(Numbers)
};

// Texts and their limits.
struct Texts {
  // +kgen:minLength=2
  kgen::String minLength{};
  // +kgen:maxLength=4
  kgen::String maxLength{};
  // +kgen:pattern=`^[a-z]+$`
  kgen::String pattern{};
  // +kgen:format=email
  kgen::String format{};
  // +kgen:enum=low;high
  kgen::String enumerated{};
  kgen::Enum<Size> size{};
  // +nullable
  kgen::String nullable{};
  // +nullable
  kgen::Enum<Size> nullableSize{};
  KGEN_OBJECT(Texts)
};

// One part of a gadget.
struct Part {
  // What the part is called.
  // +required
  kgen::String name{};
  // +kgen:default=1
  kgen::Optional<std::int32_t> count{};
  KGEN_OBJECT(Part)
};

// Lists and their limits.
struct Lists {
  // +kgen:minItems=1
  kgen::List<kgen::String> minItems{};
  // +kgen:maxItems=2
  kgen::List<std::int64_t> maxItems{};
  // +kgen:items:pattern=`^[a-z]+$`
  // +kgen:items:maxLength=8
  kgen::List<kgen::String> items{};
  // +listType=set
  kgen::List<kgen::String> set{};
  // +listType=atomic
  kgen::List<kgen::String> atomic{};
  // +listType=map
  // +listMapKey=name
  kgen::List<Part> parts{};
  kgen::List<kgen::Map<kgen::Quantity>> nested{};
  KGEN_OBJECT(Lists)
};

// An object that keeps what it does not know.
// +kgen:preserveUnknownFields
struct Open {
  kgen::String known{};
  KGEN_OBJECT(Open)
};

// A point that is written as a whole.
// +mapType=atomic
struct Point {
  kgen::Optional<std::int32_t> x{};
  kgen::Optional<std::int32_t> y{};
  KGEN_OBJECT(Point)
};

// Objects and their limits.
struct Objects {
  // +kgen:minProperties=1
  kgen::Map<kgen::String> minProperties{};
  // +kgen:maxProperties=1
  kgen::Map<Part> maxProperties{};
  // +mapType=granular
  kgen::Map<kgen::String> granular{};
  kgen::Optional<Point> point = kgen::kAbsent;
  // A part with a comment of its own.
  kgen::Optional<Part> part = kgen::kAbsent;
  kgen::Optional<Open> open = kgen::kAbsent;
  // +kgen:preserveUnknownFields
  // +kgen:embeddedResource
  kgen::Json embedded{};
  kgen::Json any{};
  kgen::Optional<kgen::meta::v1::ObjectMeta> metadata = kgen::kAbsent;
  KGEN_OBJECT(Objects)
};

// Rules in CEL.
// +kgen:XValidation:rule="!has(self.low) || !has(self.high) || self.low <= self.high",message="low is above high",reason=FieldValueForbidden,fieldPath=".low"
struct Rules {
  kgen::Optional<std::int32_t> low{};
  kgen::Optional<std::int32_t> high{};
  // +kgen:XValidation:rule="self == oldSelf",message="it cannot change"
  // +kgen:maxLength=20
  kgen::String immutable{};
  // +kgen:XValidation:rule="self % 2 == 0",messageExpression="self > 0 ? 'it is odd' : 'it is odd and negative'"
  kgen::Optional<std::int32_t> even{};
  // +kgen:XValidation:rule="!oldSelf.hasValue() || self >= oldSelf.value()",message="it cannot shrink",optionalOldSelf=true
  kgen::Optional<std::int32_t> growing{};
  KGEN_OBJECT(Rules)
};

// Defaults of the server.
struct Defaults {
  // +kgen:default=plain
  kgen::String text{};
  // +kgen:default=7
  kgen::Optional<std::int32_t> number{};
  // +kgen:default=true
  kgen::Optional<bool> flag{};
  // +kgen:default={a,b}
  kgen::List<kgen::String> list{};
  // +kgen:default={"x": 1}
  kgen::Optional<Point> point = kgen::kAbsent;
  // +kgen:default=Big
  kgen::Enum<Size> size{};
  KGEN_OBJECT(Defaults)
};

// One member of each other type.
struct Types {
  kgen::Optional<bool> flag{};
  kgen::Optional<std::int64_t> big{};
  kgen::Optional<double> fraction{};
  kgen::Quantity quantity{};
  kgen::Time time{};
  kgen::MicroTime microTime{};
  kgen::Duration duration{};
  kgen::IntOrString intOrString{};
  kgen::Bytes bytes{};
  kgen::Map<kgen::List<kgen::String>> map{};
  KGEN_OBJECT(Types)
};

// What a gadget should be.
struct GadgetSpec {
  // +required
  // +kgen:minLength=1
  kgen::String color{};
  // +kgen:default=1
  // +kgen:minimum=0
  kgen::Optional<std::int32_t> replicas{};
  kgen::Optional<Numbers> numbers = kgen::kAbsent;
  kgen::Optional<Texts> texts = kgen::kAbsent;
  kgen::Optional<Lists> lists = kgen::kAbsent;
  kgen::Optional<Objects> objects = kgen::kAbsent;
  kgen::Optional<Rules> rules = kgen::kAbsent;
  // +kgen:default={}
  kgen::Optional<Defaults> defaults = kgen::kAbsent;
  kgen::Optional<Types> types = kgen::kAbsent;
  kgen::Optional<kgen::meta::v1::LabelSelector> selector = kgen::kAbsent;
  KGEN_OBJECT(GadgetSpec)
};

// What a gadget is.
struct GadgetStatus {
  kgen::Optional<std::int32_t> replicas{};
  kgen::String selector{};
  // +listType=map
  // +listMapKey=type
  kgen::List<kgen::meta::v1::Condition> conditions{};
  KGEN_OBJECT(GadgetStatus)
};

// A gadget.
//
// It has one member for each marker.
// +kgen:resource:group=gadgets.example.com,version=v1,path=gadgets,singular=gadget,shortName=gdg;gg,categories=all
// +kgen:storage
// +kgen:subresource:status
// +kgen:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kgen:printcolumn:name=Color,type=string,jsonPath=.spec.color,description="Of the case"
// +kgen:printcolumn:name=Wanted,type=integer,jsonPath=.spec.replicas,format=int32
// +kgen:printcolumn:name=Age,type=date,jsonPath=.metadata.creationTimestamp,priority=1
// +kgen:selectablefield:jsonPath=.spec.color
// +kgen:metadata:labels="team=parts",annotations="example.com/owner=parts"
struct Gadget {
  kgen::meta::v1::ObjectMeta metadata{};
  // +required
  kgen::Optional<GadgetSpec> spec = kgen::kAbsent;
  kgen::Optional<GadgetStatus> status = kgen::kAbsent;
  KGEN_OBJECT(Gadget)
};

}  // namespace parts::gadgets::v1

#endif  // KGEN_TESTS_INTEGRATION_CPP_FIRST_API_GADGET_V1_H_
