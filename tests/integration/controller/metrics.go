// Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"sort"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// printMetrics reads the metrics at a URL as Prometheus does, and prints the name, the type and the number of series of
// each family.
func printMetrics(url string) error {
	response, err := http.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	if format := expfmt.ResponseFormat(response.Header); format.FormatType() != expfmt.TypeTextPlain {
		return fmt.Errorf("%s: not the text format: %s", url, response.Header.Get("Content-Type"))
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return err
	}
	var lines []string
	for name, family := range families {
		lines = append(lines, fmt.Sprintf("%s %s %d", name, strings.ToLower(family.GetType().String()), len(family.GetMetric())))
	}
	sort.Strings(lines)
	fmt.Println(strings.Join(lines, "\n"))
	return nil
}
