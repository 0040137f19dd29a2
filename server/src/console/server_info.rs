//! What a server is and has, for pages that show only what there is.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::assets::catalog;
use crate::http::{
    ApiResult, Data, Doc, EarlyRequest, HandlerFuture, LimitClass, Response, Route, Server,
};

/// The route.
pub static ROUTES: &[Route] =
    &[Route::early("/api/v1/server", server).limit(LimitClass::Other).doc(SERVER)];

/// A server.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ServerDescription")]
struct ServerBody {
    /// `telltale`
    name: &'static str,
    version: &'static str,
    /// The areas of the API, as its document groups them: `errors`, `queues`.
    areas: Vec<String>,
    /// Identifies the pages that the server has; it changes when they do.
    console_build: String,
    /// The port on which the server listens; null if it does not.
    port: Option<u16>,
}

fn server(server: Arc<Server>, _: EarlyRequest) -> HandlerFuture {
    Box::pin(std::future::ready(describe(&server)))
}

fn describe(server: &Server) -> ApiResult<Response> {
    let body = ServerBody {
        name: "telltale",
        version: env!("CARGO_PKG_VERSION"),
        areas: server.areas(),
        console_build: catalog().build().to_owned(),
        port: server.port(),
    };
    Response::ok(&Data { data: body })
}

const SERVER: Doc = Doc::new("Operation", "Get the version and the areas of the server")
    .ok::<Data<ServerBody>>()
    .ext();
