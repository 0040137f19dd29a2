//! From a method and a raw path to a route and its parameters.
//!
//! Paths match as they were sent, still percent-encoded, so that `%2F` is part of a parameter and never a
//! separator. A trailing slash is another path, which only routes have whose protocol asks for it. Where a literal path lacks the method, a path
//! with names may have it: `GET /api/v1/metrics/batch` asks for the metric called `batch`. A path with an `{id}` has not: nothing
//! has the id `batch`.

use std::collections::BTreeMap;

use http::Method as HttpMethod;
use percent_encoding::percent_decode_str;

use super::error::{ApiError, ApiResult, ErrorCode};
use super::route::{Method, Route};

/// All routes, by path and method.
#[derive(Debug)]
pub(super) struct Router {
    paths: matchit::Router<Methods>,
    /// Those of the paths that have names in them, which callers choose.
    patterns: matchit::Router<Methods>,
    routes: Vec<&'static Route>,
}

/// The routes of one path: the place in [`Router::routes`] for each method.
#[derive(Clone, Copy, Debug, Default)]
struct Methods([Option<usize>; Method::ALL.len()]);

/// The route of a request.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) route: &'static Route,
    /// The place of the route in [`Router::routes`].
    pub(super) index: usize,
    /// Names and percent-decoded values.
    pub(super) params: Vec<(String, String)>,
}

/// Two routes that no request could tell apart, or a path that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("route {path}: {reason}")]
pub struct InvalidRoute {
    path: &'static str,
    reason: String,
}

impl Router {
    /// A router of these routes.
    pub(super) fn new(
        routes: impl IntoIterator<Item = &'static Route>,
    ) -> Result<Self, InvalidRoute> {
        let routes: Vec<_> = routes.into_iter().collect();
        let mut by_path = BTreeMap::<&str, Methods>::new();
        for (index, route) in routes.iter().enumerate() {
            let methods = by_path.entry(route.path).or_default();
            if methods.0[route.method as usize].replace(index).is_some() {
                let reason = format!("{} stands twice", route.method.as_str());
                return Err(InvalidRoute { path: route.path, reason });
            }
        }
        let mut paths = matchit::Router::new();
        let mut patterns = matchit::Router::new();
        for (path, methods) in by_path {
            let invalid =
                |error: matchit::InsertError| InvalidRoute { path, reason: error.to_string() };
            paths.insert(path, methods).map_err(invalid)?;
            // What is made here has ids of its own form, which no literal path has.
            if path.contains('{') && !path.contains("{id}") {
                patterns.insert(path, methods).map_err(invalid)?;
            }
        }
        Ok(Self { paths, patterns, routes })
    }

    /// All routes, in the order of the tables.
    pub(super) fn routes(&self) -> &[&'static Route] {
        &self.routes
    }

    /// The route at a path that pages of other sites may call, and its place.
    pub(super) fn shared(&self, raw_path: &str) -> Option<(usize, &'static Route)> {
        let methods = self.paths.at(raw_path).ok()?.value.0;
        let mut routes = methods.into_iter().flatten();
        routes.find_map(|at| self.routes.get(at).map(|route| (at, *route)).filter(|(_, r)| r.cors))
    }

    /// The route of a request. `not_found` and `method_not_allowed` are the errors.
    pub(super) fn find(&self, method: &HttpMethod, raw_path: &str) -> ApiResult<Found> {
        let Ok(first) = self.paths.at(raw_path) else {
            return Err(ApiError::new(ErrorCode::NotFound, "there is nothing at this path"));
        };
        let method = Method::of(method).ok_or(method);
        let mut allowed = Methods::default();
        for matched in [Some(first), self.patterns.at(raw_path).ok()].into_iter().flatten() {
            let index = method.ok().and_then(|method| matched.value.0[method as usize]);
            if let Some((index, route)) = index.and_then(|i| Some((i, *self.routes.get(i)?))) {
                let params = matched.params.iter().map(|(name, raw)| decoded(name, raw));
                return Ok(Found { route, index, params: params.collect::<ApiResult<_>>()? });
            }
            allowed.add(matched.value);
        }
        let name = method.map_or_else(|other| other.as_str(), |known| known.as_str());
        let message = format!("the path does not support the method {name}");
        Err(ApiError::new(ErrorCode::MethodNotAllowed, message).allow(allowed.names()))
    }
}

impl Methods {
    fn add(&mut self, other: &Self) {
        for (own, others) in self.0.iter_mut().zip(other.0) {
            *own = own.or(others);
        }
    }

    /// The value of `Allow`.
    fn names(&self) -> String {
        let mut names = Vec::with_capacity(self.0.len() + 1);
        for method in Method::ALL {
            if self.0[method as usize].is_some() {
                names.push(method.as_str());
                if method == Method::Get {
                    names.push("HEAD");
                }
            }
        }
        names.join(", ")
    }
}

fn decoded(name: &str, raw: &str) -> ApiResult<(String, String)> {
    match percent_decode_str(raw).decode_utf8() {
        Ok(value) => Ok((name.to_owned(), value.into_owned())),
        Err(_) => Err(ApiError::parameter(name.to_owned(), "in the path must be UTF-8")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::app::App;
    use crate::http::{Request, Response};

    async fn nothing(_: Arc<App>, _: Request) -> ApiResult<Response> {
        Response::ok(&())
    }

    static ROUTES: &[Route] = &[
        Route::get("/m", &nothing),
        Route::post("/m", &nothing),
        Route::get("/m/{name}", &nothing),
        Route::delete("/m/{name}", &nothing),
        Route::post("/m/batch", &nothing),
        Route::get("/m/{name}/tags/{key}", &nothing),
        Route::get("/j/{id}", &nothing),
        Route::post("/j/batch", &nothing),
    ];

    /// What the router makes of a request line: the path of the route and the parameters, or the code.
    fn found(line: &str) -> String {
        let router = Router::new(ROUTES).unwrap();
        let (method, path) = line.split_once(' ').unwrap();
        match router.find(&method.parse().unwrap(), path) {
            Ok(found) => {
                let params: Vec<String> =
                    found.params.iter().map(|(k, v)| format!("{k}={v}")).collect();
                format!("{} {} {}", found.route.method.as_str(), found.route.path, params.join(" "))
                    .trim()
                    .to_owned()
            }
            Err(error) => [Some(error.code().as_str()), error.allowed()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    #[test]
    fn finds_the_route_and_decodes_its_parameters() {
        for (line, expected) in [
            ("GET /m", "GET /m"),
            ("HEAD /m", "GET /m"),
            ("POST /m", "POST /m"),
            ("GET /m/cpu", "GET /m/{name} name=cpu"),
            ("GET /m/a%2Fb", "GET /m/{name} name=a/b"),
            ("GET /m/a%20b+c", "GET /m/{name} name=a b+c"),
            ("GET /m/%C3%A9", "GET /m/{name} name=é"),
            ("GET /m/%", "GET /m/{name} name=%"),
            ("GET /m/a%2Fb/tags/x%2Fy", "GET /m/{name}/tags/{key} name=a/b key=x/y"),
            ("GET /m/..", "GET /m/{name} name=.."),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
    }

    #[test]
    fn a_literal_path_does_not_hide_a_resource_of_that_name() {
        assert_eq!(found("POST /m/batch"), "POST /m/batch");
        assert_eq!(found("GET /m/batch"), "GET /m/{name} name=batch");
        assert_eq!(found("PUT /m/batch"), "method_not_allowed GET, HEAD, POST, DELETE");
    }

    #[test]
    fn a_literal_path_is_no_id() {
        assert_eq!(found("GET /j/j_1"), "GET /j/{id} id=j_1");
        assert_eq!(found("POST /j/batch"), "POST /j/batch");
        assert_eq!(found("GET /j/batch"), "method_not_allowed POST");
    }

    #[test]
    fn says_what_is_wrong() {
        for (line, expected) in [
            ("GET /", "not_found"),
            ("GET /M", "not_found"),
            ("GET /m/", "not_found"),
            ("GET //m", "not_found"),
            ("GET /m/cpu/", "not_found"),
            ("GET /m/a/b", "not_found"),
            ("OPTIONS *", "not_found"),
            ("GET /m/%FF", "invalid_parameter"),
            ("PUT /m", "method_not_allowed GET, HEAD, POST"),
            ("OPTIONS /m", "method_not_allowed GET, HEAD, POST"),
            ("BREW /m/cpu", "method_not_allowed GET, HEAD, DELETE"),
        ] {
            assert_eq!(found(line), expected, "{line}");
        }
    }

    #[test]
    fn refuses_tables_that_contradict_themselves() {
        static TWICE: &[Route] = &[Route::get("/a", &nothing), Route::get("/a", &nothing)];
        static SAME: &[Route] = &[Route::get("/a/{x}", &nothing), Route::get("/a/{y}", &nothing)];
        static BROKEN: &[Route] = &[Route::get("/a/{x", &nothing)];
        for table in [TWICE, SAME, BROKEN] {
            Router::new(table).unwrap_err();
        }
    }
}
