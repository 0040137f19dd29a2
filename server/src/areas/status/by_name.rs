//! Monitors and status pages in the search by name.

use super::{monitors, pages};
use crate::app::App;
use crate::platform::name_search::NameMatches;

/// Offers all monitors. Blocks.
pub(in crate::areas) fn offer_monitors(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for (id, name, state) in monitors::named(app) {
        matches.offer(&name, || (id, Some(state.to_owned())));
    }
    Ok(())
}

/// Offers all status pages. Blocks.
pub(in crate::areas) fn offer_pages(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for (id, name, subdomain) in pages::named(app)? {
        matches.offer(&name, || (id, Some(subdomain)));
    }
    Ok(())
}
