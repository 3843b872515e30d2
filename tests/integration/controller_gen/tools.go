// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools keeps controller-gen, which ./dev integration builds, in go.mod.
package tools

import _ "sigs.k8s.io/controller-tools/cmd/controller-gen"
