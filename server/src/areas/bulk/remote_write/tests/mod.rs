//! The protocol below HTTP: what becomes of requests in an engine.

mod bench;
mod histograms;
mod hostile;
mod random;
mod requests;
