// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What changes in an object has the same length in every state, so that an update overwrites some bytes of both
// encodings and the server needs next to no CPU for it.
const (
	firstVersion  = 1_000_000_000_000_000 // resource versions have 16 digits
	sentKey       = "bench.kgen.dev/sent"
	sentSentinel  = "+0000000000000000000" // '+' or '!', and nanoseconds since 1970
	timeSentinel  = "2001-02-03T04:05:06Z"
	unmarked      = '+'
	mark          = '!' // of the last object of a phase
	versionDigits = 16
)

// places are the offsets in an encoding of what changes.
type places struct {
	version, sent int
	times         []int
	restarts      int // a digit in JSON, a number below 10 in protobuf; 0: there is none
}

// object has one state in both encodings. json begins with `{"kind":...,"apiVersion":...,`, which items of a list
// do not have; `item` is the offset of what follows.
type object struct {
	json, proto     []byte
	item            int
	inJSON, inProto places
}

// writeVersion sets the version alone.
func (o *object) writeVersion(version int64) {
	digits := strconv.AppendInt(make([]byte, 0, versionDigits), version, 10)
	copy(o.json[o.inJSON.version:], digits)
	if o.proto != nil {
		copy(o.proto[o.inProto.version:], digits)
	}
}

// advance writes a new state. sign is unmarked or mark.
func (o *object) advance(version int64, sign byte, n int) {
	o.writeVersion(version)
	now := time.Now()
	sent := strconv.AppendInt(append(make([]byte, 0, len(sentSentinel)), sign), now.UnixNano(), 10)
	seconds := now.Truncate(time.Minute).Add(time.Duration(n%60) * time.Second)
	copy(o.json[o.inJSON.sent:], sent)
	text := seconds.UTC().AppendFormat(make([]byte, 0, len(timeSentinel)), time.RFC3339)
	for _, at := range o.inJSON.times {
		copy(o.json[at:], text)
	}
	if o.inJSON.restarts != 0 {
		o.json[o.inJSON.restarts] = '0' + byte(n%10)
	}
	if o.proto == nil {
		return
	}
	copy(o.proto[o.inProto.sent:], sent)
	for _, at := range o.inProto.times {
		binary.PutUvarint(o.proto[at:], uint64(seconds.Unix()))
	}
	if o.inProto.restarts != 0 {
		o.proto[o.inProto.restarts] = byte(n % 10)
	}
}

// after returns the offset in text that follows the words, each of which is searched for after the one before.
func after(text []byte, words ...string) (int, error) {
	at := 0
	for _, word := range words {
		found := bytes.Index(text[at:], []byte(word))
		if found < 0 {
			return 0, fmt.Errorf("%q is missing in the reference pod %.80s...", word, text)
		}
		at += found + len(word)
	}
	return at, nil
}

func replaced(text []byte, from, to int, by string) []byte {
	return append(append(append(make([]byte, 0, len(text)+len(by)), text[:from]...), by...), text[to:]...)
}

// newPod makes an object from a line of the file of pods.
func newPod(line []byte, protobuf bool) (*object, error) {
	const head = `{"kind":"Pod","apiVersion":"v1",`
	text := append([]byte(head), line[1:]...)
	o := &object{item: len(head)}
	at, err := after(text, `"resourceVersion":"`)
	if err != nil {
		return nil, err
	}
	text = replaced(text, at, at+bytes.IndexByte(text[at:], '"'), strconv.Itoa(firstVersion))
	o.inJSON.version = at
	if at, err = after(text, `"annotations":{`); err != nil {
		return nil, err
	}
	text = replaced(text, at, at, `"`+sentKey+`":"`+sentSentinel+`",`)
	o.inJSON.sent = at + len(sentKey) + len(`"":"`)
	for _, way := range [][]string{{`"manager":"kubelet"`, `"time":"`}, {`"conditions":[{`, `"lastTransitionTime":"`}} {
		if at, err = after(text, way...); err != nil {
			return nil, err
		}
		copy(text[at:], timeSentinel)
		o.inJSON.times = append(o.inJSON.times, at)
	}
	const restarts = `"restartCount":`
	o.inJSON.restarts = bytes.LastIndex(text, []byte(restarts)) + len(restarts)
	o.json = text
	if !protobuf {
		return o, nil
	}
	return o, o.encodePod()
}

// encodePod adds the protobuf encoding, and finds in it what changes.
func (o *object) encodePod() error {
	var pod corev1.Pod
	if err := json.Unmarshal(o.json, &pod); err != nil {
		return fmt.Errorf("the reference pod %.80s... is not a pod: %w", o.json, err)
	}
	last := &pod.Status.ContainerStatuses[len(pod.Status.ContainerStatuses)-1]
	last.RestartCount = 1
	other, err := pod.Marshal()
	if err != nil {
		return err
	}
	last.RestartCount = 2
	if o.proto, err = pod.Marshal(); err != nil {
		return err
	}
	for i := range other {
		if other[i] != o.proto[i] {
			o.inProto.restarts = i
		}
	}
	at, err := time.Parse(time.RFC3339, timeSentinel)
	if err != nil {
		return err
	}
	o.inProto.times = all(o.proto, binary.AppendUvarint([]byte{0x08}, uint64(at.Unix())), 1)
	if len(o.inProto.times) != len(o.inJSON.times) {
		return fmt.Errorf("found %d times in the protobuf of %s, expected %d", len(o.inProto.times), pod.Name,
			len(o.inJSON.times))
	}
	return o.findProto(firstVersion)
}

// findProto finds what every object has in the protobuf encoding.
func (o *object) findProto(version int64) error {
	versions := all(o.proto, strconv.AppendInt(nil, version, 10), 0)
	sent := all(o.proto, []byte(sentSentinel), 0)
	if len(versions) != 1 || len(sent) != 1 {
		return fmt.Errorf("found %d resource versions and %d send times in the protobuf of %.80s..., expected one of each",
			len(versions), len(sent), o.json)
	}
	o.inProto.version, o.inProto.sent = versions[0], sent[0]
	return nil
}

// all returns the offsets of what follows `skip` bytes of each occurrence.
func all(text, sub []byte, skip int) []int {
	var offsets []int
	for from := 0; ; {
		at := bytes.Index(text[from:], sub)
		if at < 0 {
			return offsets
		}
		offsets = append(offsets, from+at+skip)
		from += at + len(sub)
	}
}

// readPods makes the first `count` pods of the file, which has one in each line.
func readPods(path string, count int, protobuf bool) ([]*object, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	pods := make([]*object, 0, count)
	const chunk = 4096
	for len(pods) < count {
		var texts [][]byte
		for len(texts) < chunk && len(pods)+len(texts) < count && lines.Scan() {
			texts = append(texts, bytes.Clone(lines.Bytes()))
		}
		if len(texts) == 0 {
			return nil, fmt.Errorf("%s has only %d pods, not %d (%v)", path, len(pods), count, lines.Err())
		}
		made, err := makeAll(texts, protobuf)
		if err != nil {
			return nil, err
		}
		pods = append(pods, made...)
	}
	return pods, nil
}

func makeAll(texts [][]byte, protobuf bool) ([]*object, error) {
	made := make([]*object, len(texts))
	workers := runtime.NumCPU()
	errs := make([]error, workers)
	var work sync.WaitGroup
	for w := range workers {
		work.Go(func() {
			for i := w; i < len(texts) && errs[w] == nil; i += workers {
				made[i], errs[w] = newPod(texts[i], protobuf)
			}
		})
	}
	work.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// newPlain makes an object of any kind, which has metadata only. The metadata is field 1 of the protobuf encoding of
// every kind.
func newPlain(apiVersion, kind string, number int, namespaced bool) (*object, error) {
	name := fmt.Sprintf("object-%05d", number)
	metadata := meta.ObjectMeta{
		Name: name, UID: "11111111-2222-4333-8444-555555555555", ResourceVersion: strconv.Itoa(firstVersion),
		CreationTimestamp: meta.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Labels: map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/instance": name + "-blue",
			"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "chart-1.2.3"},
		Annotations: map[string]string{sentKey: sentSentinel, "meta.helm.sh/release-name": name,
			"meta.helm.sh/release-namespace": "default"},
		ManagedFields: []meta.ManagedFieldsEntry{{Manager: "helm", Operation: meta.ManagedFieldsOperationUpdate,
			APIVersion: apiVersion, FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(
				`{"f:metadata":{"f:annotations":{".":{},"f:meta.helm.sh/release-name":{},"f:meta.helm.sh/release-namespace":` +
					`{}},"f:labels":{".":{},"f:app.kubernetes.io/name":{},"f:app.kubernetes.io/instance":{}}}}`)}}},
	}
	if namespaced {
		metadata.Namespace = "default"
	}
	text, err := json.Marshal(&metadata)
	if err != nil {
		return nil, err
	}
	message, err := metadata.Marshal()
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,`, kind, apiVersion)
	o := &object{item: len(head), json: fmt.Appendf(nil, `%s"metadata":%s}`, head, text)}
	o.proto = append(binary.AppendUvarint([]byte{0x0a}, uint64(len(message))), message...)
	if o.inJSON.version, err = after(o.json, `"resourceVersion":"`); err != nil {
		return nil, err
	}
	if o.inJSON.sent, err = after(o.json, `"`+sentKey+`":"`); err != nil {
		return nil, err
	}
	return o, o.findProto(firstVersion)
}
