//! The promises of the larger sketches.

mod distribution;
