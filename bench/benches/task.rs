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

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Instant;

use actum::{ActionError, Registry, action};
use actum_bench::{Aim, Pair, head, row};
use actum_kernel::config::Config;
use actum_kernel::{Kernel, sample};
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::get;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
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
    let server = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();

    let (address, token) = start_kernel(&server, &config);
    let request = format!(
        "GET /v1/task HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\naccept: application/json\r\n\r\n"
    );
    let mut ours = Client::new(address, &request);
    let (_, body) = ours.answer.split_once("\r\n\r\n").unwrap();
    let name = format!("{name}, {} bytes", body.len());
    let mut theirs = Client::new(start_bare(&server, body), &request);
    assert_eq!(without_date(&ours.answer), without_date(&theirs.answer));

    let rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|round| {
            if round % 2 == 0 {
                let first = ours.throughput();
                (first, theirs.throughput())
            } else {
                let first = theirs.throughput();
                (ours.throughput(), first)
            }
        })
        .collect();
    row(&name, &Pair::of(&rounds), Aim::AtLeast(0.9));
    drop((ours, theirs));
    server.shutdown_background();
}

/// A kernel with a task in it: its address, and the token of the task.
fn start_kernel(server: &Runtime, config: &Path) -> (SocketAddr, String) {
    server.block_on(async {
        let config = Config::load(config).unwrap();
        let connector = config.connectors.iter().find(|c| *c.id == "signed_in_chat");
        let connector = connector.unwrap().clone();
        let kernel = Kernel::builder(config).build().await.unwrap();
        let event = include_str!("../../kernel/sample/events/owner.json");
        let event = serde_json::from_str(event).unwrap();
        let issued = kernel.take_in(&connector, &event).await.unwrap().unwrap();
        let (listener, address) = listen().await;
        tokio::spawn(kernel.serve(listener, std::future::pending()));
        (address, issued.token.reveal())
    })
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

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// An answer's lines but for its date.
fn without_date(answer: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = answer.lines().filter(|l| !l.starts_with("date:")).collect();
    lines.sort_unstable();
    lines
}

/// Connections to one server. Every answer is as long as the first, so they need no parsing.
struct Client {
    connections: Vec<TcpStream>,
    request: Vec<u8>,
    answer: String,
}

impl Client {
    fn new(address: SocketAddr, request: &str) -> Self {
        let connections = (0..CONNECTIONS)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        // One answer whose end is the connection's tells how long the others are.
        let mut first = TcpStream::connect(address).unwrap();
        let closing = request.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
        first.write_all(closing.as_bytes()).unwrap();
        let mut answer = String::new();
        first.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        Self {
            connections,
            request: request.into(),
            answer: answer.replace("connection: close\r\n", ""),
        }
    }

    /// Requests a second: every connection asks again as soon as it has its answer.
    fn throughput(&mut self) -> f64 {
        let mut answer = vec![0; self.answer.len()];
        let start = Instant::now();
        for connection in &mut self.connections {
            connection.write_all(&self.request).unwrap();
        }
        for asked in CONNECTIONS..REQUESTS + CONNECTIONS {
            let connection = self.connections.get_mut(asked % CONNECTIONS).unwrap();
            connection.read_exact(&mut answer).unwrap();
            if asked < REQUESTS {
                connection.write_all(&self.request).unwrap();
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!(answer.ends_with(b"}}") && answer.starts_with(b"HTTP/1.1 200 OK"));
        REQUESTS as f64 / seconds
    }
}

/// Puts every tool below into the owner's view.
fn grant_every_tool(sample: &Path) {
    let registry = Registry::linked().unwrap();
    let catalog = registry.catalog();
    let tools = catalog
        .ids()
        .into_iter()
        .filter(|id| id.as_str().starts_with("board."));
    let mut list = String::new();
    for id in tools {
        write!(list, "\n  - {id}").unwrap();
    }
    for (file, key) in [
        (
            "manifests/packs/owner_pack.yaml",
            "candidate_allowed_actions:",
        ),
        ("manifests/agents/house_assistant.yaml", "designed_tools:"),
    ] {
        let path = sample.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(key));
        std::fs::write(&path, text.replace(key, &format!("{key}{list}"))).unwrap();
    }
}

/// What the model fills in.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "nothing calls these tools")]
struct ListCards {
    /// Words that a card must contain; empty for every card.
    #[schemars(length(max = 200))]
    query: String,
    /// How many of the newest cards to return, 1 to 50.
    #[schemars(range(min = 1, max = 50))]
    newest: u8,
    /// Whether archived cards are included.
    with_archived: bool,
}

#[derive(Serialize, JsonSchema)]
struct Cards {
    /// The cards' titles, newest first.
    titles: Vec<String>,
}

macro_rules! tools {
    ($($name:ident $id:literal),+ $(,)?) => { $(
        #[action(
            id = $id,
            title = "List cards",
            description = "List the newest cards of the column, newest first, without their attachments.",
            read_only
        )]
        async fn $name(_ask: ListCards) -> Result<Cards, ActionError> {
            Ok(Cards { titles: Vec::new() })
        }
    )+ };
}

tools! {
    column_01 "board.list_column_01",
    column_02 "board.list_column_02",
    column_03 "board.list_column_03",
    column_04 "board.list_column_04",
    column_05 "board.list_column_05",
    column_06 "board.list_column_06",
    column_07 "board.list_column_07",
    column_08 "board.list_column_08",
    column_09 "board.list_column_09",
    column_10 "board.list_column_10",
    column_11 "board.list_column_11",
    column_12 "board.list_column_12",
    column_13 "board.list_column_13",
    column_14 "board.list_column_14",
    column_15 "board.list_column_15",
    column_16 "board.list_column_16",
    column_17 "board.list_column_17",
    column_18 "board.list_column_18",
    column_19 "board.list_column_19",
    column_20 "board.list_column_20",
}
