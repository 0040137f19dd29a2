// Package search answers queries over the catalogue.
package search

import (
	"context"
	"fmt"
	"time"
)

// shardTimeout is how long one shard may take to answer.
const shardTimeout = 250 * time.Millisecond

// Hit is a product that matches a query.
type Hit struct {
	Product string
	Score   float64
}

// Shard holds the products of one part of the catalogue.
type Shard interface {
	Lookup(ctx context.Context, words []string) ([]Hit, error)
}

// Index is the catalogue of one region, in shards.
type Index struct {
	Shards []Shard
}

// Search asks all shards and returns their hits. It fails if one shard does not answer in time.
func (index *Index) Search(ctx context.Context, query string) ([]Hit, error) {
	var hits []Hit
	for number, shard := range index.Shards {
		ctx, cancel := context.WithTimeout(ctx, shardTimeout)
		found, err := shard.Lookup(ctx, Words(query))
		cancel()
		if err != nil {
			return nil, fmt.Errorf("shard %d: %w", number, err)
		}
		hits = append(hits, found...)
	}
	return Rank(hits), nil
}
