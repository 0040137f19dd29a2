//! The ledger with its thread, on a real engine.
