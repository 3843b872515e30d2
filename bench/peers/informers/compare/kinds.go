// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
)

const (
	mixedObjects   = 300 // of each kind
	dynamicKinds   = 1000
	dynamicObjects = 10 // of each kind
)

// dynamicFile writes the resources of the scenario "dynamic": GROUP VERSION RESOURCE KIND namespaced|cluster
// builtin|custom.
func (b *bench) dynamicFile() (string, error) {
	var text bytes.Buffer
	for i := range dynamicKinds {
		fmt.Fprintf(&text, "bench.kgen.dev v1 widget%04ds Widget%04d namespaced custom\n", i, i)
	}
	path := filepath.Join(b.folder, "dynamic.txt")
	return path, os.WriteFile(path, text.Bytes(), 0o644)
}

// kindsRound measures one contestant with informers of many kinds: "mixed" or "dynamic".
func (b *bench) kindsRound(ctx context.Context, c contestant, scenario string) error {
	path, objects, verb := b.mixed, mixedObjects, []string{"mixed"}
	if scenario == "dynamic" {
		var err error
		if path, err = b.dynamicFile(); err != nil {
			return err
		}
		objects, verb = dynamicObjects, []string{"dynamic", path}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// Bookmarks come as rarely as from a real server, which has the same number of watches to serve.
	p, err := b.pairUp(ctx, c, []string{"--plain", path, "--count", fmt.Sprint(objects), "--bookmarks", "1m"}, verb...)
	if err != nil {
		return err
	}
	if err := p.sync(ctx, scenario, objects*bytes.Count(text, []byte("\n")), false); err != nil {
		return err
	}
	p.add(scenario+".threads", p.client.mostThreads())
	return p.end()
}
