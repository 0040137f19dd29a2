//! What users are promised of answers.

mod appearances;
mod citations;
mod fixture;
mod follow_ups;
mod kinds;
mod not_found;
mod properties;
mod receivers;
mod same_names;
mod usages;
