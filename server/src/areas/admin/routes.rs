//! The routes of the area. All of them need the scope `admin`.

use std::sync::Arc;

use super::ops;
use super::wire::{BackedUp, BackupInput, Merged, Sealed, Verified};
use crate::app::App;
use crate::http::{ApiResult, BodyKind, Data, Doc, ErrorCode, Request, Response, Route, Scope};

/// The routes of the area.
pub static ROUTES: &[Route] = &[
    Route::post("/api/v1/admin/seal", &seal).scope(Scope::Admin).body(BodyKind::None).doc(SEAL),
    Route::post("/api/v1/admin/merge", &merge).scope(Scope::Admin).body(BodyKind::None).doc(MERGE),
    Route::post("/api/v1/admin/backup", &backup).scope(Scope::Admin).doc(BACKUP),
    Route::post("/api/v1/admin/verify", &verify)
        .scope(Scope::Admin)
        .body(BodyKind::None)
        .doc(VERIFY),
];

async fn seal(app: Arc<App>, _: Request) -> ApiResult<Response> {
    let report = app.blocking(ops::seal).await?;
    Response::ok(&Data { data: Sealed::from(report) })
}

async fn merge(app: Arc<App>, _: Request) -> ApiResult<Response> {
    let report = app.blocking(ops::merge).await?;
    Response::ok(&Data { data: Merged::from(report) })
}

async fn backup(app: Arc<App>, req: Request) -> ApiResult<Response> {
    let target = req.json::<BackupInput>()?.target;
    let done = app
        .blocking(move |app| ops::backup(app, &target).map(|report| BackedUp::new(target, report)));
    Response::ok(&Data { data: done.await? })
}

async fn verify(app: Arc<App>, _: Request) -> ApiResult<Response> {
    let report = app.blocking(ops::verify).await?;
    Response::ok(&Data { data: Verified::from(report) })
}

const TAG: &str = "Administration";

const SEAL: Doc = Doc::new(TAG, "Move the points in memory into blocks").ok::<Data<Sealed>>().ext();

const MERGE: Doc = Doc::new(TAG, "Bring blocks into their final form")
    .about("Files that nobody uses any more are removed.")
    .ok::<Data<Merged>>()
    .ext();

const BACKUP: Doc = Doc::new(TAG, "Copy everything into a new directory")
    .about("The directory is on the server's machine. The server goes on working meanwhile.")
    .request::<BackupInput>("")
    .ok::<Data<BackedUp>>()
    .errors(&[
        ErrorCode::InvalidJson,
        ErrorCode::InvalidParameter,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::Conflict,
    ])
    .ext();

const VERIFY: Doc = Doc::new(TAG, "Check every checksum")
    .about("Damage is told in the answer, whose `ok` is then false.")
    .ok::<Data<Verified>>()
    .ext();
