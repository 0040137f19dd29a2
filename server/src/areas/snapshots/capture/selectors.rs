//! CSS selectors of a request.

use super::limits::{SELECTOR_CHARS_MAX, SELECTORS_MAX};
use super::request::CaptureRequestError;

/// A list of CSS selectors. Whether they are valid is known to the browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selectors(Vec<String>);

impl Selectors {
    /// Returns a list of selectors, and refuses too many, too long and empty ones.
    pub fn new(selectors: Vec<String>) -> Result<Self, CaptureRequestError> {
        if selectors.len() > SELECTORS_MAX {
            return Err(CaptureRequestError::TooManySelectors);
        }
        selectors.iter().try_for_each(|selector| check_selector(selector))?;
        Ok(Self(selectors))
    }

    /// Returns the selectors.
    pub(super) fn as_slice(&self) -> &[String] {
        &self.0
    }
}

/// Refuses a selector that is empty or too long.
pub(super) fn check_selector(selector: &str) -> Result<(), CaptureRequestError> {
    let is_valid = !selector.trim().is_empty() && selector.chars().count() <= SELECTOR_CHARS_MAX;
    is_valid.then_some(()).ok_or(CaptureRequestError::SelectorLength)
}
