//! HTTP routes in lines of code, in the forms of common frameworks.

/// A route that a line declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// In upper case; `None` if the line does not say it.
    pub(super) method: Option<&'static str>,
    /// The path, as written.
    pub(super) path: String,
}

const METHODS: &[&str] = &["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// What comes before a path in declarations without a method, in lower case.
const DECLARATIONS: &[&str] =
    &["route(", "handlefunc(", "handle(", "requestmapping(", "add_url_rule("];

/// Ends of the names of what routes are declared on, in lower case: `client.get("/x")` declares
/// none.
const RECEIVERS: &[&str] =
    &["app", "router", "routes", "server", "api", "mux", "blueprint", "bp", "group", "fastify"];

/// Returns the route that a line declares; `None` if it declares none.
pub(super) fn route(line: &str) -> Option<Route> {
    let (at, path) = string_path(line)?;
    let before = line.get(..at).unwrap_or_default().trim_end();
    let lower = before.to_lowercase();
    let method = METHODS.iter().copied().find(|method| {
        let verb = method.to_lowercase();
        declares(&lower, &verb)
            || before.ends_with(&format!("{method},"))
            || before.ends_with(&format!("\"{method}\","))
    });
    let is_declaration = DECLARATIONS.iter().any(|start| lower.ends_with(start));
    (method.is_some() || is_declaration).then_some(Route { method, path })
}

/// Returns whether what comes before a path declares a route of a method: `app.get(`, `@app.get(`,
/// `#[get(`, `@GetMapping(`, `Route::get(`. Both are in lower case.
fn declares(before: &str, verb: &str) -> bool {
    if let Some(receiver) = before.strip_suffix(&format!(".{verb}(")) {
        let is_decorator = receiver.trim_start().starts_with('@');
        return is_decorator || RECEIVERS.iter().any(|end| receiver.ends_with(end));
    }
    ["#[", "@", "route::"].iter().any(|start| before.ends_with(&format!("{start}{verb}(")))
        || before.ends_with(&format!("@{verb}mapping("))
}

/// Returns the first string of a line that is a path, and where its quote is.
fn string_path(line: &str) -> Option<(usize, String)> {
    line.match_indices(['"', '\'', '`']).find_map(|(at, quote)| {
        let rest = line.get(at + 1..)?;
        let (inside, _) = rest.split_once(quote)?;
        let is_path = (inside.starts_with('/')
            || inside.starts_with("GET /")
            || inside.starts_with("POST /"))
            && !inside.contains(char::is_whitespace) | inside.contains(" /")
            && inside.len() <= 200;
        is_path.then(|| (at, inside.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_of_frameworks_are_found() {
        for (line, method, path) in [
            ("app.get('/users/:id', show)", Some("GET"), "/users/:id"),
            ("@app.post(\"/login\")", Some("POST"), "/login"),
            ("@app.route(\"/health\")", None, "/health"),
            ("#[get(\"/x\")]", Some("GET"), "/x"),
            ("    .route(\"/api/v1/jobs\", post(create))", None, "/api/v1/jobs"),
            ("    @GetMapping(\"/owners\")", Some("GET"), "/owners"),
            ("http.HandleFunc(\"/metrics\", handler)", None, "/metrics"),
            (
                "    Route::new(Method::DELETE, \"/keys/{id}\", delete),",
                Some("DELETE"),
                "/keys/{id}",
            ),
            ("    route(GET, \"/keys\", list),", Some("GET"), "/keys"),
            ("  get \"/rails\"", None, ""),
        ] {
            let found = route(line);
            match path {
                "" => assert_eq!(found, None, "{line}"),
                _ => assert_eq!(found, Some(Route { method, path: path.to_owned() }), "{line}"),
            }
        }
        for line in
            ["let x = \"/tmp\";", "open(\"/etc/passwd\")", "get(key)", "assert_eq!(path, \"/x\")"]
        {
            assert_eq!(route(line), None, "{line}");
        }
    }
}
