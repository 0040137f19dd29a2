//! Dashboards in the search by name.

use super::ops;
use crate::app::App;
use crate::platform::name_search::NameMatches;

/// Offers all dashboards. Blocks.
pub(in crate::areas) fn offer_dashboards(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    for dashboard in ops::list(app)? {
        let describe = || (dashboard.id.as_str().to_owned(), dashboard.description.clone());
        matches.offer(&dashboard.name, describe);
    }
    Ok(())
}
