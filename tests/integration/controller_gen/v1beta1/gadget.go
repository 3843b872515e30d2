// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Package v1beta1 is v1 in an older version, which a server still serves.
// +groupName=gadgets.example.com
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a gadget should be.
type GadgetSpec struct {
	Color string `json:"color,omitempty"`
}

// A gadget.
// +kubebuilder:object:root=true
// +kubebuilder:deprecatedversion:warning="gadgets.example.com/v1beta1 Gadget is deprecated; use v1"
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec *GadgetSpec `json:"spec,omitempty"`
}
