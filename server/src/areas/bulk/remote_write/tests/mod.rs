//! The protocol without HTTP: what requests store in an engine.

mod bench;
mod histograms;
mod hostile;
mod random;
mod requests;
