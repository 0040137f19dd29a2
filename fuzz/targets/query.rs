//! Query strings with conditions on tags: any string after the `?` is parsed or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telltale_server::http::Query;
use telltale_server::platform::telemetry::query_params;

fuzz_target!(|text: &str| {
    if let Ok(query) = Query::parse(text) {
        drop(query.paging(100, 1_000));
        drop(query.one("from"));
        let tags = query.bracketed("tags").count();
        assert!(tags <= query.iter().count(), "a condition is a parameter");
        if let Ok(filters) = query_params::tag_filters(query.bracketed("tags")) {
            assert_eq!(filters.len(), tags, "each parameter is a condition");
        }
    }
});
