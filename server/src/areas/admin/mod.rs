//! What an operator asks of the storage: seal, merge, copy, check. Each is answered when it is done, and keys
//! with the scope `admin` may ask.

mod error;
mod ops;
mod routes;
mod wire;

pub use routes::ROUTES;

#[cfg(test)]
mod tests;
