//! `GET /v1/task` of a kernel, against a bare axum handler that returns the same bytes with the same
//! headers: no token, no grant, no projection, no bound of any kind.
//!
//! `cargo bench --manifest-path bench/Cargo.toml --bench task`
//!
//! Both servers live on one thread, and a client of plain blocking sockets keeps it busy from
//! another: the server is what is measured. Rounds alternate between the two.
#![allow(
    clippy::unwrap_used,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

use std::net::SocketAddr;
use std::path::Path;

use actum_bench::board::grant_every_tool;
use actum_bench::served::{Client, in_turn, listen, one_thread, start_kernel};
use actum_bench::{Aim, head, row};
use actum_kernel::sample;
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::get;
use tokio::runtime::Runtime;

/// Connections that always have a request under way.
const CONNECTIONS: usize = 32;
/// Requests of one side of one round.
const REQUESTS: usize = 2_000;
const ROUNDS: usize = 101;

fn main() {
    head(
        "GET /v1/task against a bare axum handler of the same bytes",
        "req/s",
        "bare, req/s",
    );
    measure("the sample's owner", |_| {});
    measure("a view of 20 tools and more", grant_every_tool);
}

fn measure(name: &str, prepare: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir().unwrap();
    let config = sample::write_once(folder.path()).unwrap();
    prepare(folder.path());
    let server = one_thread();

    let (address, token) = start_kernel(&server, &config);
    let request = format!(
        "GET /v1/task HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\naccept: application/json\r\n\r\n"
    );
    let mut ours = Client::new(address, &request, CONNECTIONS);
    let (_, body) = ours.answer.split_once("\r\n\r\n").unwrap();
    let name = format!("{name}, {} bytes", body.len());
    let mut theirs = Client::new(start_bare(&server, body), &request, CONNECTIONS);
    assert_eq!(without_date(&ours.answer), without_date(&theirs.answer));

    let pair = in_turn(&mut ours, &mut theirs, ROUNDS, REQUESTS);
    row(&name, &pair, Aim::AtLeast(0.9));
    drop((ours, theirs));
    server.shutdown_background();
}

/// The handler that anybody would write who has nothing but the bytes.
fn start_bare(server: &Runtime, body: &str) -> SocketAddr {
    let body = Bytes::copy_from_slice(body.as_bytes());
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let task = move || async move { (headers, body) };
    server.block_on(async {
        let (listener, address) = listen().await;
        let router = Router::new().route("/v1/task", get(task));
        tokio::spawn(async { axum::serve(listener, router).await });
        address
    })
}

/// An answer's lines but for its date.
fn without_date(answer: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = answer.lines().filter(|l| !l.starts_with("date:")).collect();
    lines.sort_unstable();
    lines
}
