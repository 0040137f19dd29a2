//! What users are promised of answers.

mod appearances;
mod citations;
mod claims;
mod fixture;
mod follow_ups;
mod foreign_names;
mod kinds;
mod not_found;
mod properties;
mod receivers;
mod relevance;
mod same_names;
mod usages;
mod values;
mod work;
