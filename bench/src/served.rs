//! A kernel and another server side by side on one thread, and the client that keeps both busy.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a benchmark whose set-up fails has nothing to measure"
)]

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Instant;

use actum_kernel::Kernel;
use actum_kernel::config::Config;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::Pair;

/// One thread for both servers: they are what is measured, one at a time.
#[must_use]
pub fn one_thread() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
}

/// A kernel with a task in it: its address, and the token of the task.
#[must_use]
pub fn start_kernel(server: &Runtime, config: &Path) -> (SocketAddr, String) {
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

/// A port of the system's choice.
pub async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Rounds of both sides in turn, neither always second.
#[must_use]
pub fn in_turn(ours: &mut Client, theirs: &mut Client, rounds: usize, requests: usize) -> Pair {
    let rounds: Vec<(f64, f64)> = (0..rounds)
        .map(|round| {
            if round % 2 == 0 {
                let first = ours.throughput(requests);
                (first, theirs.throughput(requests))
            } else {
                let first = theirs.throughput(requests);
                (ours.throughput(requests), first)
            }
        })
        .collect();
    Pair::of(&rounds)
}

/// Connections to one server. Every answer is as long as the first, so they need no parsing.
#[derive(Debug)]
pub struct Client {
    connections: Vec<TcpStream>,
    request: Vec<u8>,
    /// The first answer.
    pub answer: String,
}

impl Client {
    /// So many connections to a server, each for this request.
    #[must_use]
    pub fn new(address: SocketAddr, request: &str, connections: usize) -> Self {
        let connections = (0..connections)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        // One answer whose end is the connection's tells how long the others are.
        let mut first = TcpStream::connect(address).unwrap();
        let closing = request.replacen("\r\n\r\n", "\r\nconnection: close\r\n\r\n", 1);
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
    #[must_use]
    pub fn throughput(&mut self, requests: usize) -> f64 {
        let connections = self.connections.len();
        let mut answer = vec![0; self.answer.len()];
        let start = Instant::now();
        for connection in &mut self.connections {
            connection.write_all(&self.request).unwrap();
        }
        for asked in connections..requests + connections {
            let connection = self.connections.get_mut(asked % connections).unwrap();
            connection.read_exact(&mut answer).unwrap();
            if asked < requests {
                connection.write_all(&self.request).unwrap();
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!(answer.ends_with(b"}") && answer.starts_with(b"HTTP/1.1 200 OK"));
        requests as f64 / seconds
    }
}
