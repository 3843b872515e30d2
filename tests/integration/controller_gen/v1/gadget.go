// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Package v1 is the API of ../../cpp_first/api/gadget_v1.h as controller-gen reads it, with the same comments.
// +groupName=gadgets.example.com
package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// How big a gadget is.
// +kubebuilder:validation:Enum=Small;Big;XL
type Size string

// Numbers and their limits.
type Numbers struct {
	// +kubebuilder:validation:Minimum=3
	Minimum *int32 `json:"minimum,omitempty"`
	// +kubebuilder:validation:Maximum=5
	Maximum *int64 `json:"maximum,omitempty"`
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:ExclusiveMinimum=true
	ExclusiveMinimum *float64 `json:"exclusiveMinimum,omitempty"`
	// +kubebuilder:validation:Maximum=1
	// +kubebuilder:validation:ExclusiveMaximum=true
	ExclusiveMaximum *float64 `json:"exclusiveMaximum,omitempty"`
	// +kubebuilder:validation:MultipleOf=5
	MultipleOf *int32 `json:"multipleOf,omitempty"`
	// +kubebuilder:validation:Enum=1;2;3
	Enumerated *int32 `json:"enumerated,omitempty"`
}

// Texts and their limits.
type Texts struct {
	// +kubebuilder:validation:MinLength=2
	MinLength string `json:"minLength,omitempty"`
	// +kubebuilder:validation:MaxLength=4
	MaxLength string `json:"maxLength,omitempty"`
	// +kubebuilder:validation:Pattern=`^[a-z]+$`
	Pattern string `json:"pattern,omitempty"`
	// +kubebuilder:validation:Format=email
	Format string `json:"format,omitempty"`
	// +kubebuilder:validation:Enum=low;high
	Enumerated string `json:"enumerated,omitempty"`
	Size       Size   `json:"size,omitempty"`
	// +nullable
	Nullable *string `json:"nullable,omitempty"`
	// +nullable
	NullableSize *Size `json:"nullableSize,omitempty"`
}

// One part of a gadget.
type Part struct {
	// What the part is called.
	// +required
	Name string `json:"name"`
	// +kubebuilder:default=1
	Count *int32 `json:"count,omitempty"`
}

// Lists and their limits.
type Lists struct {
	// +kubebuilder:validation:MinItems=1
	MinItems []string `json:"minItems,omitempty"`
	// +kubebuilder:validation:MaxItems=2
	MaxItems []int64 `json:"maxItems,omitempty"`
	// +kubebuilder:validation:items:Pattern=`^[a-z]+$`
	// +kubebuilder:validation:items:MaxLength=8
	Items []string `json:"items,omitempty"`
	// +listType=set
	Set []string `json:"set,omitempty"`
	// +listType=atomic
	Atomic []string `json:"atomic,omitempty"`
	// +listType=map
	// +listMapKey=name
	Parts  []Part                         `json:"parts,omitempty"`
	Nested []map[string]resource.Quantity `json:"nested,omitempty"`
}

// An object that keeps what it does not know.
// +kubebuilder:pruning:PreserveUnknownFields
type Open struct {
	Known string `json:"known,omitempty"`
}

// A point that is written as a whole.
// +structType=atomic
type Point struct {
	X *int32 `json:"x,omitempty"`
	Y *int32 `json:"y,omitempty"`
}

// Objects and their limits.
type Objects struct {
	// +kubebuilder:validation:MinProperties=1
	MinProperties map[string]string `json:"minProperties,omitempty"`
	// +kubebuilder:validation:MaxProperties=1
	MaxProperties map[string]Part `json:"maxProperties,omitempty"`
	// +mapType=granular
	Granular map[string]string `json:"granular,omitempty"`
	Point    *Point            `json:"point,omitempty"`
	// A part with a comment of its own.
	Part *Part `json:"part,omitempty"`
	Open *Open `json:"open,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:EmbeddedResource
	Embedded *runtime.RawExtension `json:"embedded,omitempty"`
	Any      *apiextensionsv1.JSON `json:"any,omitempty"`
	Metadata *metav1.ObjectMeta    `json:"metadata,omitempty"`
}

// Rules in CEL.
// +kubebuilder:validation:XValidation:rule="!has(self.low) || !has(self.high) || self.low <= self.high",message="low is above high",reason=FieldValueForbidden,fieldPath=".low"
type Rules struct {
	Low  *int32 `json:"low,omitempty"`
	High *int32 `json:"high,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="it cannot change"
	// +kubebuilder:validation:MaxLength=20
	Immutable string `json:"immutable,omitempty"`
	// +kubebuilder:validation:XValidation:rule="self % 2 == 0",messageExpression="self > 0 ? 'it is odd' : 'it is odd and negative'"
	Even *int32 `json:"even,omitempty"`
	// +kubebuilder:validation:XValidation:rule="!oldSelf.hasValue() || self >= oldSelf.value()",message="it cannot shrink",optionalOldSelf=true
	Growing *int32 `json:"growing,omitempty"`
}

// Defaults of the server.
type Defaults struct {
	// +kubebuilder:default=plain
	Text string `json:"text,omitempty"`
	// +kubebuilder:default=7
	Number *int32 `json:"number,omitempty"`
	// +kubebuilder:default=true
	Flag *bool `json:"flag,omitempty"`
	// +kubebuilder:default={a,b}
	List []string `json:"list,omitempty"`
	// +kubebuilder:default={"x": 1}
	Point *Point `json:"point,omitempty"`
	// +kubebuilder:default=Big
	Size Size `json:"size,omitempty"`
}

// One member of each other type.
type Types struct {
	Flag        *bool               `json:"flag,omitempty"`
	Big         *int64              `json:"big,omitempty"`
	Fraction    *float64            `json:"fraction,omitempty"`
	Quantity    *resource.Quantity  `json:"quantity,omitempty"`
	Time        *metav1.Time        `json:"time,omitempty"`
	MicroTime   *metav1.MicroTime   `json:"microTime,omitempty"`
	Duration    *metav1.Duration    `json:"duration,omitempty"`
	IntOrString *intstr.IntOrString `json:"intOrString,omitempty"`
	Bytes       []byte              `json:"bytes,omitempty"`
	Map         map[string][]string `json:"map,omitempty"`
}

// What a gadget should be.
type GadgetSpec struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	Color string `json:"color"`
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Replicas *int32   `json:"replicas,omitempty"`
	Numbers  *Numbers `json:"numbers,omitempty"`
	Texts    *Texts   `json:"texts,omitempty"`
	Lists    *Lists   `json:"lists,omitempty"`
	Objects  *Objects `json:"objects,omitempty"`
	Rules    *Rules   `json:"rules,omitempty"`
	// +kubebuilder:default={}
	Defaults *Defaults             `json:"defaults,omitempty"`
	Types    *Types                `json:"types,omitempty"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// What a gadget is.
type GadgetStatus struct {
	Replicas *int32 `json:"replicas,omitempty"`
	Selector string `json:"selector,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// A gadget.
//
// It has one member for each marker.
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=gadgets,singular=gadget,shortName=gdg;gg,categories=all
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name=Color,type=string,JSONPath=.spec.color,description="Of the case"
// +kubebuilder:printcolumn:name=Wanted,type=integer,JSONPath=.spec.replicas,format=int32
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=.metadata.creationTimestamp,priority=1
// +kubebuilder:selectablefield:JSONPath=.spec.color
// +kubebuilder:metadata:labels="team=parts",annotations="example.com/owner=parts"
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   *GadgetSpec   `json:"spec"`
	Status *GadgetStatus `json:"status,omitempty"`
}
