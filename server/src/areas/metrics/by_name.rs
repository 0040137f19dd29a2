//! Metrics in the search by name.

use telltale_engine::{MetricName, MetricType};

use crate::app::App;
use crate::platform::name_search::NameMatches;

/// Offers all metrics. Blocks.
pub(in crate::areas) fn offer_metrics(
    app: &App,
    matches: &mut NameMatches<'_>,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let offer = |name: &MetricName, kind: MetricType| {
        let name = name.as_str();
        matches.offer(name, || (name.to_owned(), Some(kind.as_str().to_owned())));
    };
    Ok(app.engine().visit_metrics(offer)?)
}
