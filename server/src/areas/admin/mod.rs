//! Storage operations for operators: seal, compaction (`merge`), backup and verification. Each
//! responds when it has completed, and requires the scope `admin`.

mod error;
mod ops;
mod routes;
mod wire;

pub use routes::ROUTES;

#[cfg(test)]
mod tests;
