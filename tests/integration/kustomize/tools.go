// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools keeps kustomize, which ./dev integration builds, in go.mod.
package tools

import _ "sigs.k8s.io/kustomize/kustomize/v5"
