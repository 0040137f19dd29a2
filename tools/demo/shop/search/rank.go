package search

import (
	"sort"
	"strings"
)

// Words splits a query into lower-case words.
func Words(query string) []string {
	return strings.Fields(strings.ToLower(query))
}

// Rank sorts hits, the best first.
func Rank(hits []Hit) []Hit {
	sort.Slice(hits, func(a, b int) bool { return hits[a].Score > hits[b].Score })
	return hits
}
