//! Everything breaks at once, by chance, for as long as the environment says: kernels are killed, PostgreSQL is stopped,
//! the disk is full, clocks are wrong, requests are lost, torn, doubled and late. At the end the store and the ledger are
//! held against what clients and the outside saw, and all is counted.
//!
//! `ACTUM_FAULTS_SECONDS` is how long both tests take together, `ACTUM_FAULTS_SEED` the chance of an earlier run. Chance
//! chooses what is tried; what comes of it is also the machine's doing, so that a seed repeats a run only roughly.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)] // a test says where it fails

mod chance;
mod clients;
mod counts;
mod outside;
mod program;
mod proxy;
mod reckoning;
mod scene;
mod stored;
#[path = "../support/mod.rs"]
mod support;
mod troubles;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use chance::Chance;
use clients::{Approver, SEND, Worker};
use counts::Counts;
use outside::Outside;
use program::Program;
use proxy::Proxy;
use scene::Scene;
use stored::{Peek, Place, Stored};
use support::database::Database;
use support::home::{Authority, Home};
use support::server::Server;
use support::telegram::BOT_TOKEN;
use tokio::time::Instant;
use troubles::{Shared, Stage};

const WORKERS: u64 = 8;
const APPROVERS: [&str; 3] = ["owner", "approver-kim", "approver-lee"];

const PEOPLE: &str = "identities:
  - identity_id: 01J00000000000000000000K1M
    principal_id: 01J00000000000000000000K1M
    relationship: client
    identifiers: [{ kind: handle, value: kim, verified_by: [telegram] }]
  - identity_id: 01J00000000000000000000J0E
    principal_id: 01J00000000000000000000J0E
    relationship: client
    identifiers: [{ kind: handle, value: lee, verified_by: [telegram] }]
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_kernel_on_sqlite_loses_nothing_and_does_nothing_twice() {
    run("one kernel on SQLite", 1, 1, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_kernels_on_postgres_lose_nothing_and_do_nothing_twice() {
    let Some(server) = Server::start() else {
        return;
    };
    let database = Database::on(server.url.clone()).await;
    run(
        "three kernels on PostgreSQL",
        3,
        2,
        Some(Shared { server, database }),
    )
    .await;
}

/// How long one of the two tests makes trouble.
fn time() -> Duration {
    let seconds = std::env::var("ACTUM_FAULTS_SECONDS").unwrap_or_else(|_| "6".to_owned());
    let seconds: u64 = seconds
        .parse()
        .expect("ACTUM_FAULTS_SECONDS is a whole number");
    Duration::from_secs(seconds) / 2
}

fn home(bot: &str, quorum: usize, shared: Option<&Shared>) -> Home {
    let authority = |name| Authority {
        name,
        allowed: &["openspine.status.read"],
        channels: &["telegram.owner.reply"],
        ..Authority::default()
    };
    let tell = Authority {
        allowed: &[SEND, "openspine.status.read"],
        ..authority("tell")
    };
    let propose = Authority {
        approval: &[SEND],
        ..authority("propose")
    };
    let store = shared.map(|shared| {
        let url_file = shared.database.url_file();
        format!("store: {{ postgres: {{ url_file: {url_file:?} }} }}\n")
    });
    let more = format!(
        "{PEOPLE}telegram: {{ base_url: {bot:?}, token_file: bot.token }}
approvals:
  quorum: {quorum}
  expires_seconds: 15
  approvers:
    - {{ id: kim, principal_id: 01J00000000000000000000K1M }}
    - {{ id: lee, principal_id: 01J00000000000000000000J0E }}
{}",
        store.unwrap_or_default()
    );
    let home = Home::desk("telegram", &[tell, propose], &more);
    home.write("bot.token", BOT_TOKEN);
    home
}

async fn run(name: &str, kernels: usize, quorum: usize, shared: Option<Shared>) {
    let seed = chance::seed();
    let _ = writeln!(std::io::stderr(), "{name}: ACTUM_FAULTS_SEED={seed}");
    let counts = Arc::new(Counts::default());
    let outside = Outside::start(Arc::clone(&counts), Chance::of(seed, 1)).await;
    let home = home(&outside.url, quorum, shared.as_ref());
    let place = match &shared {
        Some(shared) => Place::UrlFile(shared.database.url_file()),
        None => Place::Folder(home.data()),
    };
    let programs: Vec<Program> = (0..kernels)
        .map(|n| Program::new(&home.config_file(), &format!("kernel-{n}")))
        .collect();
    let mut proxies = Vec::new();
    for (n, program) in (100..).zip(&programs) {
        proxies
            .push(Proxy::start(program.address(), Arc::clone(&counts), Chance::of(seed, n)).await);
    }
    let addresses = proxies.iter().map(|proxy| proxy.address).collect();
    let mut stage = Stage {
        programs,
        proxies,
        outside,
        place,
        shared,
        counts: Arc::clone(&counts),
        chance: Chance::of(seed, 2),
    };
    stage.start_all(None).await;
    stage.outside.look_into(match &stage.shared {
        Some(shared) => Peek::Postgres(shared.database.url.clone()),
        None => Peek::Sqlite(home.data().join("actum.db")),
    });

    let scene = Arc::new(Scene::new(
        addresses,
        home.data().join("keys"),
        Arc::clone(&counts),
    ));
    let mut clients = Vec::new();
    for n in 0..WORKERS {
        let worker = Worker::new(
            format!("worker {n}, text"),
            Arc::clone(&scene),
            Chance::of(seed, 10 + n),
        );
        clients.push(tokio::spawn(worker.work()));
    }
    for (n, key) in (50..).zip(APPROVERS) {
        let approver = Approver {
            key: key.to_owned(),
            scene: Arc::clone(&scene),
            chance: Chance::of(seed, n),
        };
        clients.push(tokio::spawn(approver.decide()));
    }
    stage.trouble(&scene, Instant::now() + time()).await;
    scene.end();
    for client in clients {
        client.await.unwrap();
    }

    stage.calm().await;
    settled(&stage, &scene).await;
    verified(&home.config_file());
    stage.stop_all().await;
    let stored = Stored::read(&stage.place).await;
    let seen = scene.seen.lock().unwrap();
    let faults = reckoning::reckon(&seen, &stage.outside.taken(), &stored, quorum, &counts);
    let _ = write!(
        std::io::stderr(),
        "{name}, {:?} of faults, seed {seed}:\n{counts}",
        time()
    );
    assert_eq!(
        stage.outside.unrecorded(),
        Vec::<String>::new(),
        "effects before their records"
    );
    assert!(
        faults.is_empty(),
        "seed {seed}: {} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

/// Waits until nothing is under way any more.
async fn settled(stage: &Stage, scene: &Scene) {
    let (key, mut chance) = (scene.key("owner"), Chance::of(0, 0));
    let over = Instant::now() + Duration::from_secs(60);
    let mut looks = tokio::time::interval(Duration::from_millis(100));
    for state in ["approved", "running"] {
        loop {
            looks.tick().await;
            let path = format!("/v1/owner/calls?state={state}");
            let answer = scene.ask(&mut chance, &key, &path, None).await;
            let (status, body) = answer.expect("all kernels run");
            assert_eq!(status, 200, "{body}");
            if body["calls"] == serde_json::json!([]) {
                break;
            }
            assert!(
                Instant::now() < over,
                "{body}\n{}",
                stage.programs[0].said()
            );
        }
    }
}

/// The command line says so, too.
fn verified(config: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_actum"));
    command.args(["ledger", "verify", "--config"]).arg(config);
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
