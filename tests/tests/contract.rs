//! The contract of all routes: iterates over the route tables of the server and checks that every
//! route is documented, has a test of its success and one of its refusal, refuses unauthenticated
//! clients and keys of other scopes, and responds to wrong methods like all others.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use serde_json::{Value, json};
use telltale_engine::{Clock, Engine, Options};
use telltale_server::app::App;
use telltale_server::areas;
use telltale_server::config::Config;
use telltale_server::http::{self, ApiResult, Listener, Request, Route};
use telltale_server::platform::ticks::Ticks;
use telltale_tests::{Case, Client, Response, Server, Setup, declarations, folder};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Scopes that a key may have besides `admin`, which permits everything.
const SCOPES: [&str; 4] = ["ingest", "work", "read", "write"];

/// One operation of the OpenAPI document.
#[derive(Debug)]
struct Operation {
    /// In upper case.
    method: String,
    path: String,
    /// `None` for operations that need no key.
    scope: Option<String>,
}

impl Operation {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns the path with an example in place of every parameter.
    fn example(&self) -> String {
        let filled = |part: &str| {
            if part.starts_with('{') { "nobody12".to_owned() } else { part.to_owned() }
        };
        self.path.split('/').map(filled).collect::<Vec<_>>().join("/")
    }

    fn call(&self, client: &Client, path: &str) -> Response {
        let request = client.request(&self.method, path);
        if self.method == "GET" { request.send() } else { request.json(&json!({})).send() }
    }
}

fn operations(client: &Client) -> Vec<Operation> {
    let document = client.get("/api/v1/openapi.json").json();
    let mut operations = Vec::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let public = operation["security"].as_array().is_some_and(Vec::is_empty);
            let scope = operation["x-scope"].as_str().map(str::to_owned);
            assert_eq!(public, scope.is_none(), "{method} {path} is public, or has a scope");
            operations.push(Operation { method: method.to_uppercase(), path: path.clone(), scope });
        }
    }
    operations
}

#[test]
fn every_route_is_documented() {
    let server = Server::start();
    let documented: BTreeSet<String> =
        operations(&server.client()).iter().map(Operation::name).collect();
    let mut routes = 0;
    for route in areas::routes() {
        let name = format!("{} {}", route.method.as_str(), route.template());
        assert!(documented.contains(&name), "{name} is not in the OpenAPI document");
        let is_described = !route.doc.tag.is_empty() && !route.doc.summary.is_empty();
        assert!(is_described, "{name} has no tag or no summary");
        routes += 1;
    }
    assert!(routes >= 10, "only {routes} routes were found");
}

#[test]
fn every_route_has_a_success_test_and_a_refusal_test() {
    let server = Server::start();
    let declared = declarations(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/api")));
    let operations = operations(&server.client());
    let mut missing = Vec::new();
    for operation in &operations {
        let mut cases = vec![Case::Happy];
        // A public route without parameters has nothing to refuse.
        if operation.scope.is_some() {
            cases.push(Case::Refusal);
        }
        for case in cases {
            if !declared.contains(&(operation.name(), case)) {
                missing.push(format!("no test covers!(\"{}\", {case:?})", operation.name()));
            }
        }
    }
    for (route, _) in &declared {
        if !operations.iter().any(|operation| operation.name() == *route) {
            missing.push(format!("a test covers {route}, which is not a route"));
        }
    }
    assert!(missing.is_empty(), "\n{}\n", missing.join("\n"));
}

#[test]
fn every_route_that_is_not_public_refuses_unauthenticated_clients() {
    // There are more routes than requests without a key in a second.
    let server = Setup::new().set("http.stranger_requests_per_second", "0").start();
    let client = server.client();
    for operation in operations(&client) {
        let response = operation.call(&client.without_key(), &operation.example());
        if operation.scope.is_some() {
            response.refused(401, "unauthorized");
        } else {
            // What is only for those who know its link does not exist for others.
            let is_secret = operation.path.contains('{') && response.status == 404;
            // What opens a session needs something to open it with.
            let is_sign_in = operation.name() == "POST /api/v1/session" && response.status == 422;
            assert!(
                is_secret || is_sign_in || matches!(response.status, 200 | 204),
                "{}: {}",
                operation.name(),
                response.summary()
            );
        }
    }
}

#[test]
fn every_route_refuses_keys_without_its_scope() {
    let server = Server::start();
    let client = server.client();
    for operation in operations(&client) {
        let Some(scope) = &operation.scope else { continue };
        let others: Vec<&str> = SCOPES.into_iter().filter(|other| other != scope).collect();
        let body = json!({"name": "lesser", "user": "a@example.com", "scopes": others});
        let key = client.post("/api/v1/keys", &body).data(201)["key"].clone();
        let lesser = client.with_key(key.as_str().unwrap_or_default());
        operation.call(&lesser, &operation.example()).refused(403, "forbidden");
    }
}

#[test]
fn every_path_refuses_wrong_methods_and_trailing_slashes_in_the_same_way() {
    // These requests do not present their key to a route.
    let server = Setup::new().set("http.stranger_requests_per_second", "0").start();
    let client = server.client();
    for operation in operations(&client) {
        let path = operation.example();
        let response = client.request("OPTIONS", &path).send();
        if allows_cors(&operation) {
            // A CORS preflight request.
            assert_eq!(response.status, 204, "{}", response.summary());
        } else {
            response.refused(405, "method_not_allowed");
        }
        let allowed = response.must_header("allow");
        assert!(allowed.split(", ").any(|verb| verb == operation.method), "{path}: {allowed}");
        if operation.method == "GET" {
            assert!(allowed.split(", ").any(|verb| verb == "HEAD"), "{path}: {allowed}");
        }
        operation.call(&client, &format!("{path}/")).refused(404, "not_found");
    }
}

#[test]
fn every_route_with_a_body_refuses_invalid_json() {
    let server = Server::start();
    let client = server.client();
    let document = client.get("/api/v1/openapi.json").json();
    for operation in operations(&client) {
        let method = operation.method.to_lowercase();
        let described = &document["paths"][operation.path.as_str()][method.as_str()]["requestBody"];
        // The bulk protocols have bodies of other kinds, whose valid part is accepted.
        if described["content"]["application/json"] == Value::Null {
            continue;
        }
        let request = client.request(&operation.method, &operation.path);
        let request = request.header("content-type", "application/json");
        request.body("{\"a\": ").send().refused(400, "invalid_json");
    }
}

/// Routes of protocols whose clients may send parameters that this server does not know.
const FOREIGN_PROTOCOL_ROUTES: [&str; 10] = [
    "/metrics",
    "/v1/metrics",
    "/api/v1/write",
    "/api/v1/influx/",
    "/api/v2/",
    "/api/v1/import",
    "/api/{project}/",
    // Pages that people link to: mail programs and others add parameters.
    "/status/",
    "/console",
    "/console/",
];

fn is_foreign_protocol(operation: &Operation) -> bool {
    FOREIGN_PROTOCOL_ROUTES.iter().any(|route| match route.strip_suffix('/') {
        Some(_) => operation.path.starts_with(route),
        None => operation.path == *route,
    })
}

#[test]
fn every_route_refuses_undocumented_query_parameters_unless_its_protocol_is_foreign() {
    let server = Server::start();
    let client = server.client();
    let mut refusing = 0;
    for operation in operations(&client) {
        let path = format!("{}?undocumented=1", operation.example());
        let response = operation.call(&client, &path);
        if is_foreign_protocol(&operation) {
            assert!(
                !is_unknown_parameter(&response),
                "{}: {}",
                operation.name(),
                response.summary()
            );
        } else {
            response.refused_for(400, "invalid_parameter", "undocumented");
            assert!(
                is_unknown_parameter(&response),
                "{}: {}",
                operation.name(),
                response.summary()
            );
            refusing += 1;
        }
    }
    assert!(refusing >= 10, "only {refusing} routes refuse");
}

#[test]
fn every_route_accepts_the_query_parameters_that_it_documents() {
    let server = Server::start();
    let client = server.client();
    let document = client.get("/api/v1/openapi.json").json();
    let mut accepted = 0;
    for operation in operations(&client) {
        let method = operation.method.to_lowercase();
        let described = &document["paths"][operation.path.as_str()][method.as_str()]["parameters"];
        for parameter in described.as_array().into_iter().flatten() {
            if parameter["in"] != "query" {
                continue;
            }
            let name = parameter["name"].as_str().unwrap_or_default();
            let key = if parameter["style"] == "deepObject" { "[key]" } else { "" };
            let path = format!("{}?{name}{key}=1", operation.example());
            let response = operation.call(&client, &path);
            assert!(
                !is_unknown_parameter(&response),
                "{}: {}",
                operation.name(),
                response.summary()
            );
            accepted += 1;
        }
    }
    assert!(accepted >= 10, "only {accepted} parameters are documented");
}

fn is_unknown_parameter(response: &Response) -> bool {
    response.status == 400 && response.text().contains("is not a query parameter of this route")
}

/// Returns whether the route allows requests of other origins (CORS).
fn allows_cors(operation: &Operation) -> bool {
    areas::routes().any(|route| route.cors && route.path == operation.path)
}

/// Two routes of this test: one whose handler panics, and one that shows that the server still
/// runs.
static ROUTES: &[Route] =
    &[Route::get("/explode", &explode).public(), Route::get("/fine", &fine).public()];

async fn explode(_: Arc<App>, _: Request) -> ApiResult<http::Response> {
    panic!("a handler that panics on purpose, with a secret in its message")
}

async fn fine(_: Arc<App>, _: Request) -> ApiResult<http::Response> {
    http::Response::ok(&json!({"fine": true}))
}

/// Serves [`ROUTES`] until `stop` completes, and sends the address it listens on through
/// `listening`.
async fn serve(
    data: &Path,
    listening: Sender<SocketAddr>,
    stop: oneshot::Receiver<()>,
) -> Option<()> {
    let (clock, ticks, config) = (Clock::system(), Ticks::system(), Config::default());
    let engine = Engine::open(data, Options::default()).ok()?;
    let app = App::new(engine, clock.clone(), ticks.clone(), &config).ok()?;
    let settings = config.http_settings(app.engine().memory());
    let threads = http::ConnectionThreads::start(&Handle::current(), &ticks).ok()?;
    let server = http::Server::new(settings, clock, ticks, ROUTES).ok()?;
    server.open(app).ok()?;
    let listener = Listener::tcp(([127, 0, 0, 1], 0).into()).ok()?;
    listening.send(listener.local_addr()?).ok()?;
    let stopped = async { drop(stop.await) };
    http::serve(server, Arc::new(threads), vec![listener], stopped).await;
    Some(())
}

#[test]
fn a_panic_in_a_handler_is_an_internal_error_and_the_server_keeps_running() {
    let data = folder();
    let (listening, address) = channel();
    let (stop, stopped) = oneshot::channel();
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().ok()?;
            runtime.block_on(serve(data.path(), listening, stopped))
        });
        let Ok(address) = address.recv() else { panic!("the server did not start") };
        let client = Client::new(address, None);
        for _ in 0..3 {
            let error = client.get("/explode").refused(500, "internal");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        assert_eq!(client.get("/fine").expect(200), json!({"fine": true}));
        assert!(stop.send(()).is_ok());
        assert!(matches!(serving.join(), Ok(Some(()))), "the server stopped when asked to");
    });
}
