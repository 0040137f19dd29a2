//! Query strings: whatever stands behind the `?` is read or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use telltale_server::http::Query;

fuzz_target!(|text: &str| {
    if let Ok(query) = Query::parse(text) {
        drop(query.paging(100, 1_000));
        drop(query.one("from"));
        let tags = query.bracketed("tags").count();
        assert!(tags <= query.iter().count(), "a condition is a parameter");
    }
});
