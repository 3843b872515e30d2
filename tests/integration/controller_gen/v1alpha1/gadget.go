// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is v1 in the oldest version, which a server no longer serves.
// +groupName=gadgets.example.com
package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// What a gadget should be.
type GadgetSpec struct {
	Color string `json:"color,omitempty"`
}

// A gadget.
// +kubebuilder:object:root=true
// +kubebuilder:unservedversion
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec *GadgetSpec `json:"spec,omitempty"`
}
