// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// facts writes how the types of the stable built-in API are encoded in protobuf: the number of each member, and
// what a zero on the wire means. OpenAPI documents do not say this; the tags of the Go types do. openapi/README.md
// describes the format.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/client-go/kubernetes/scheme"
)

type member struct {
	name   string
	number string // of the field, after the numbers of the messages around it: "2.1"
	zero   string // " omitempty", " value", or "" if only the field's presence counts
}

type facts map[string][]member

// Types that JSON and protobuf encode in forms of their own, which the decoder knows.
var scalars = map[string]bool{
	"k8s.io/apimachinery/pkg/apis/meta/v1.Time":       true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.MicroTime":  true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.Duration":   true,
	"k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1":   true,
	"k8s.io/apimachinery/pkg/api/resource.Quantity":   true,
	"k8s.io/apimachinery/pkg/util/intstr.IntOrString": true,
	"k8s.io/apimachinery/pkg/runtime.RawExtension":    true,
}

var stable = regexp.MustCompile(`^v[0-9]+$`)

func main() {
	all := facts{}
	for kind, goType := range scheme.Scheme.AllKnownTypes() {
		if stable.MatchString(kind.Version) {
			all.add(goType)
		}
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintln(out, "# Made by tests/integration/protobuf/facts from the Go types of Kubernetes 1.36.1 (Apache-2.0); see README.md.")
	fmt.Fprintln(out, "protobuf: 1")
	fmt.Fprintln(out, "types:")
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if len(all[name]) == 0 {
			fmt.Fprintf(out, "  %s: {}\n", name)
			continue
		}
		fmt.Fprintf(out, "  %s:\n", name)
		for _, m := range all[name] {
			fmt.Fprintf(out, "    %s: %s%s\n", quoted(m.name), m.number, m.zero)
		}
	}
}

// quoted returns the name as a key of YAML, in which some words are no strings.
func quoted(name string) string {
	if slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}, strings.ToLower(name)) {
		return `"` + name + `"`
	}
	return name
}

// definition returns the name of a type in OpenAPI documents.
func definition(t reflect.Type) string {
	if named, ok := reflect.New(t).Interface().(interface{ OpenAPIModelName() string }); ok {
		return named.OpenAPIModelName()
	}
	return "io." + strings.Join(reversedHost(t.PkgPath()), ".") + "." + t.Name()
}

// reversedHost returns k8s, api, core, v1 for k8s.io/api/core/v1.
func reversedHost(path string) []string {
	return strings.Split(strings.Replace(path, "k8s.io/", "k8s/", 1), "/")
}

func (f facts) add(t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || !strings.HasPrefix(t.PkgPath(), "k8s.io/") || scalars[t.PkgPath()+"."+t.Name()] {
		return
	}
	name := definition(t)
	if _, known := f[name]; known {
		return
	}
	f[name] = nil // types contain each other
	f[name] = f.members(t, "")
}

// members returns the members of a struct as JSON has them, with the members of embedded structs as its own.
func (f facts) members(t reflect.Type, inside string) []member {
	var result []member
	for i := range t.NumField() {
		field := t.Field(i)
		number := protobufNumber(field)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if number == "" || name == "-" {
			continue
		}
		if name == "" {
			result = append(result, f.members(field.Type, inside+number+".")...)
			continue
		}
		result = append(result, member{name, inside + number, zeroOf(field.Type, options)})
		f.add(field.Type)
	}
	return result
}

func protobufNumber(field reflect.StructField) string {
	parts := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// zeroOf returns what a zero means. Only values that are always on the wire can be zero there; pointers, lists, maps and
// messages are present if they are on the wire.
func zeroOf(t reflect.Type, options string) string {
	all := strings.Split(options, ",")
	left := slices.Contains(all, "omitempty") || slices.Contains(all, "omitzero")
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Float64, reflect.String:
		if left {
			return " omitempty"
		}
		return " value"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && left {
			return " omitempty"
		}
	case reflect.Struct:
		if slices.Contains(all, "omitzero") {
			return " omitzero"
		}
	}
	return ""
}
