//! Metrics in the search by name.

use telltale_engine::DefinitionFilter;

use crate::app::App;
use crate::platform::name_search::NameMatches;

/// Offers all metrics. Blocks.
pub(in crate::areas) fn offer_metrics(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let filter = DefinitionFilter { limit: usize::MAX, ..DefinitionFilter::default() };
    for metric in app.engine().metrics(&filter).definitions {
        let name = metric.name.as_str();
        matches.offer(name, || (name.to_owned(), Some(metric.kind.as_str().to_owned())));
    }
    Ok(())
}
