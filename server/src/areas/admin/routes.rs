//! The routes of the area. All of them require the scope `admin`.

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

const SEAL: Doc = Doc::new(TAG, "Seal the head: write samples and events in memory to blocks")
    .ok::<Data<Sealed>>()
    .ext();

const MERGE: Doc = Doc::new(TAG, "Compact blocks into their final form")
    .about("Also removes files that are no longer in use.")
    .ok::<Data<Merged>>()
    .ext();

const BACKUP: Doc = Doc::new(TAG, "Back up all data into a new directory")
    .about("The directory is created on the server's machine. The server keeps serving requests during the backup.")
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

const VERIFY: Doc = Doc::new(TAG, "Verify all data")
    .about("Checks every checksum. Corrupt data is listed in the response, and `ok` is then false.")
    .ok::<Data<Verified>>()
    .ext();
