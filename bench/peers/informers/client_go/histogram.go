// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import "math/bits"

// histogram counts latencies in microseconds, with an error of up to 3 %. All contestants have the same one. Only the
// handler's goroutine uses it, or nobody calls the handler.
type histogram struct {
	counts [2048]uint64
	total  uint64
	max    uint64
}

func (h *histogram) record(microseconds uint64) {
	at := microseconds
	if at >= 64 {
		shift := uint64(bits.Len64(microseconds) - 6)
		at = 64 + (shift-1)*32 + microseconds>>shift - 32
	}
	h.counts[min(at, uint64(len(h.counts)-1))]++
	h.total++
	h.max = max(h.max, microseconds)
}

func (h *histogram) percentile(share float64) uint64 {
	left := uint64(share * float64(h.total))
	for i, count := range h.counts {
		if left < count {
			if i < 64 {
				return uint64(i)
			}
			return uint64((i-64)%32+32) << ((i-64)/32 + 1)
		}
		left -= count
	}
	return h.max
}
