//! Tests of the properties that the larger sketches promise.

mod distribution;
