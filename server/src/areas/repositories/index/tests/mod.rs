//! What users of an index are promised.

mod damage;
mod generated;
mod limits;
mod naive;
mod references;
mod round_trip;
mod sample;
mod search;
mod stability;
mod symbols;
mod words;
