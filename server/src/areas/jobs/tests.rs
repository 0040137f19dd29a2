//! The area through its routes.
