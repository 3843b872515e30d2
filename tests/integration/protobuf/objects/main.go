// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

// objects writes objects of the stable built-in API as an API server would, each in JSON and in protobuf, for a test
// that decodes both and compares. They are random, made by the fuzzers of Kubernetes, or come from the test data of
// k8s.io/api.
//
// Each record is four fields, each with a length of four bytes before it, big-endian: apiVersion, kind, JSON, protobuf.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

var stable = regexp.MustCompile(`^v[0-9]+$`)

func main() {
	count := flag.Int("objects", 1000, "how many random objects")
	seed := flag.Int64("seed", 1, "of the random objects")
	testdata := flag.String("testdata", "", "a folder with the test data of k8s.io/api, in place of random objects")
	flag.Parse()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	err := error(nil)
	if *testdata != "" {
		err = writeTestData(*testdata, out)
	} else {
		err = writeRandom(*count, *seed, out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "objects:", err)
		os.Exit(1)
	}
}

func writeRandom(count int, seed int64, out io.Writer) error {
	kinds := objectKinds()
	for i := range count {
		kind := kinds[i%len(kinds)]
		object, err := scheme.Scheme.New(kind)
		if err != nil {
			return err
		}
		filler(seed+int64(i), i/len(kinds)).Fill(object)
		object.GetObjectKind().SetGroupVersionKind(kind)
		if err := writeObject(object, kind, out); err != nil {
			return fmt.Errorf("%v: %w", kind, err)
		}
	}
	return nil
}

// objectKinds returns the kinds with the metadata of an object, in a fixed order.
func objectKinds() []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for kind, goType := range scheme.Scheme.AllKnownTypes() {
		field, ok := goType.FieldByName("ObjectMeta")
		if ok && field.Anonymous && stable.MatchString(kind.Version) {
			kinds = append(kinds, kind)
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// filler varies how much of an object is there: everything, or hardly anything.
func filler(seed int64, round int) *randfill.Filler {
	codecs := serializer.NewCodecFactory(scheme.Scheme)
	funcs := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, validValues)
	chances := []float64{0, 0.2, 0.5, 0.9}
	return fuzzer.FuzzerFor(funcs, rand.NewSource(seed), codecs).
		NilChance(chances[round%len(chances)]).NumElements(0, 1+round%3)
}

// validValues makes values that a server can have, where the fuzzers' values could not be written as JSON.
func validValues(serializer.CodecFactory) []any {
	texts := []string{`{}`, `{"f:metadata":{"f:labels":{".":{},"k:{\"a\":\"<b>\"}":{}}}}`, `[1,2.50,"é\u2028 &"]`, `"text"`}
	return []any{
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1<<40)-1<<39, resource.DecimalSI)
		},
		func(raw *runtime.RawExtension, c randfill.Continue) { raw.Raw = []byte(texts[c.Intn(len(texts))]) },
		func(raw *metav1.FieldsV1, c randfill.Continue) { raw.Raw = []byte(texts[c.Intn(2)]) },
		func(t *metav1.Time, c randfill.Continue) {
			*t = metav1.Time{}
			if c.Bool() {
				*t = metav1.Unix(c.Int63n(1<<36)-1<<35, c.Int63n(1_000_000_000))
			}
		},
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.MicroTime{}
			if c.Bool() {
				t.Time = metav1.Unix(c.Int63n(1<<36)-1<<35, c.Int63n(1_000_000_000)).UTC()
			}
		},
	}
}

// writeObject writes what a server has that reads the object from its store, in which it is protobuf.
func writeObject(object runtime.Object, kind schema.GroupVersionKind, out io.Writer) error {
	binaries := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	texts := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{})
	var stored, asText, asBinary bytes.Buffer
	if err := binaries.Encode(object, &stored); err != nil {
		return err
	}
	read, _, err := binaries.Decode(stored.Bytes(), nil, nil)
	if err != nil {
		return err
	}
	read.GetObjectKind().SetGroupVersionKind(kind)
	if err := texts.Encode(read, &asText); err != nil {
		return err
	}
	if err := binaries.Encode(read, &asBinary); err != nil {
		return err
	}
	return writeRecord(kind, bytes.TrimSpace(asText.Bytes()), asBinary.Bytes(), out)
}

func writeRecord(kind schema.GroupVersionKind, asText, asBinary []byte, out io.Writer) error {
	for _, field := range [][]byte{[]byte(kind.GroupVersion().String()), []byte(kind.Kind), asText, asBinary} {
		if err := binary.Write(out, binary.BigEndian, uint32(len(field))); err != nil {
			return err
		}
		if _, err := out.Write(field); err != nil {
			return err
		}
	}
	return nil
}

// writeTestData writes the objects of stable kinds. The files have JSON for people, so it is written anew.
func writeTestData(folder string, out io.Writer) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.pb"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no test data in %s: %w", folder, err)
	}
	decoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	kinds := objectKinds()
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		object, kind, err := decoder.Decode(data, nil, nil)
		if kind == nil || !slices.Contains(kinds, *kind) {
			continue
		}
		if err == nil {
			err = writeObject(object, *kind, out)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}
