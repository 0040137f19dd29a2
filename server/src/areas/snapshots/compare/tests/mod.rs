//! Tests of the folder. Whether it compares like pixelmatch is tested against pixelmatch itself, in
//! another place; `naive` is a transcription of it for random pictures.

mod comparisons;
mod decoding;
mod encoding;
mod ignoring;
mod naive;
mod png_file;
mod random;
mod regions;
