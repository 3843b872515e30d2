// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"strconv"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// encoding writes lists and events of one content type.
type encoding interface {
	contentType(watch bool) string
	listHead(buffer []byte, c *collection, list meta.ListMeta, items []*object) []byte
	listItem(buffer []byte, c *collection, o *object, first bool) []byte
	listTail(buffer []byte) []byte
	event(buffer []byte, c *collection, kind string, o *object) []byte
	bookmark(buffer []byte, c *collection, version int64, initialEnd bool) []byte
	status(buffer []byte, code int32, reason meta.StatusReason, message string, asEvent bool) []byte
}

type jsonEncoding struct{}

func (jsonEncoding) contentType(bool) string { return "application/json" }

func (jsonEncoding) listHead(buffer []byte, c *collection, list meta.ListMeta, _ []*object) []byte {
	buffer = fmt.Appendf(buffer, `{"kind":"%sList","apiVersion":%q,"metadata":{"resourceVersion":%q`, c.kind, c.apiVersion,
		list.ResourceVersion)
	if list.Continue != "" {
		buffer = fmt.Appendf(buffer, `,"continue":%q,"remainingItemCount":%d`, list.Continue, *list.RemainingItemCount)
	}
	return append(buffer, `},"items":[`...)
}

func (jsonEncoding) listItem(buffer []byte, c *collection, o *object, first bool) []byte {
	if !first {
		buffer = append(buffer, ',')
	}
	if c.custom { // servers write apiVersion and kind in items of custom resources only
		return append(buffer, o.json...)
	}
	return append(append(buffer, '{'), o.json[o.item:]...)
}

func (jsonEncoding) listTail(buffer []byte) []byte { return append(buffer, "]}\n"...) }

func (jsonEncoding) event(buffer []byte, _ *collection, kind string, o *object) []byte {
	buffer = append(append(append(buffer, `{"type":"`...), kind...), `","object":`...)
	return append(append(buffer, o.json...), "}\n"...)
}

func (jsonEncoding) bookmark(buffer []byte, c *collection, version int64, initialEnd bool) []byte {
	buffer = fmt.Appendf(buffer, `{"type":"BOOKMARK","object":{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"%d"`,
		c.kind, c.apiVersion, version)
	if initialEnd {
		buffer = fmt.Appendf(buffer, `,"annotations":{%q:"true"}`, meta.InitialEventsAnnotationKey)
	}
	return append(buffer, "}}}\n"...)
}

func (jsonEncoding) status(buffer []byte, code int32, reason meta.StatusReason, message string, asEvent bool) []byte {
	text := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}`,
		message, reason, code)
	if asEvent {
		text = `{"type":"ERROR","object":` + text + "}"
	}
	return append(append(buffer, text...), '\n')
}

// protobufEncoding writes what apimachinery's protobuf serializers write.
type protobufEncoding struct{}

func (protobufEncoding) contentType(watch bool) string {
	if watch {
		return "application/vnd.kubernetes.protobuf;stream=watch"
	}
	return "application/vnd.kubernetes.protobuf"
}

var unknownTail = []byte{0x1a, 0, 0x22, 0} // contentEncoding and contentType of a runtime.Unknown

// field appends the key and the length of a field with the given content.
func field(buffer []byte, number byte, length int) []byte {
	return binary.AppendUvarint(append(buffer, number<<3|2), uint64(length))
}

func textField(buffer []byte, number byte, text string) []byte {
	return append(field(buffer, number, len(text)), text...)
}

func uvarintSize(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) }

// unknownHead appends all of a runtime.Unknown that is before its content.
func unknownHead(buffer []byte, apiVersion, kind string, length int) []byte {
	buffer = append(buffer, "k8s\x00"...)
	buffer = field(buffer, 1, 2+len(apiVersion)+2+len(kind))
	buffer = textField(textField(buffer, 1, apiVersion), 2, kind)
	return field(buffer, 2, length)
}

func (protobufEncoding) listHead(buffer []byte, c *collection, list meta.ListMeta, items []*object) []byte {
	metadata, _ := list.Marshal() // never fails
	length := 1 + uvarintSize(len(metadata)) + len(metadata)
	for _, o := range items {
		length += 1 + uvarintSize(len(o.proto)) + len(o.proto)
	}
	buffer = unknownHead(buffer, c.apiVersion, c.kind+"List", length)
	return append(field(buffer, 1, len(metadata)), metadata...)
}

func (protobufEncoding) listItem(buffer []byte, _ *collection, o *object, _ bool) []byte {
	return append(field(buffer, 2, len(o.proto)), o.proto...)
}

func (protobufEncoding) listTail(buffer []byte) []byte { return append(buffer, unknownTail...) }

// frame appends an event: its length in four bytes, and a meta.WatchEvent with a meta.RawExtension, which has the object.
func frame(buffer []byte, kind, apiVersion, objectKind string, content []byte) []byte {
	var head [128]byte
	unknown := unknownHead(head[:0], apiVersion, objectKind, len(content))
	raw := len(unknown) + len(content) + len(unknownTail)
	extension := 1 + uvarintSize(raw) + raw
	event := 2 + len(kind) + 1 + uvarintSize(extension) + extension
	buffer = binary.BigEndian.AppendUint32(buffer, uint32(event))
	buffer = textField(buffer, 1, kind)
	buffer = field(field(buffer, 2, extension), 1, raw)
	return append(append(append(buffer, unknown...), content...), unknownTail...)
}

func (protobufEncoding) event(buffer []byte, c *collection, kind string, o *object) []byte {
	return frame(buffer, kind, c.apiVersion, c.kind, o.proto)
}

func (protobufEncoding) bookmark(buffer []byte, c *collection, version int64, initialEnd bool) []byte {
	metadata := meta.ObjectMeta{ResourceVersion: strconv.FormatInt(version, 10)}
	if initialEnd {
		metadata.Annotations = map[string]string{meta.InitialEventsAnnotationKey: "true"}
	}
	text, _ := metadata.Marshal() // never fails
	return frame(buffer, "BOOKMARK", c.apiVersion, c.kind, append(field(nil, 1, len(text)), text...))
}

func (protobufEncoding) status(buffer []byte, code int32, reason meta.StatusReason, message string, asEvent bool) []byte {
	status := meta.Status{Status: meta.StatusFailure, Message: message, Reason: reason, Code: code}
	text, _ := status.Marshal() // never fails
	if asEvent {
		return frame(buffer, "ERROR", "v1", "Status", text)
	}
	return append(append(unknownHead(buffer, "v1", "Status", len(text)), text...), unknownTail...)
}
