//! The protocol without HTTP: what requests store in an engine.

mod fixture;
mod histograms;
mod hostile;
mod random;
mod requests;
