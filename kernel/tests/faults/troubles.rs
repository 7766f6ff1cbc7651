//! The kernels, their store, and all that befalls them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::chance::Chance;
use crate::counts::Counts;
use crate::outside::Outside;
use crate::program::Program;
use crate::proxy::Proxy;
use crate::scene::Scene;
use crate::stored::Place;
use crate::support::database::Database;
use crate::support::server::Server;

/// The longest until a kernel works again after its store does.
const RECOVERY: Duration = Duration::from_secs(40);
/// The longest that trouble lasts.
const SPELL: Duration = Duration::from_secs(1);
/// The most seconds that a clock is wrong.
const SKEW: usize = 900;

/// How much longer a run goes on until all of `SEEN` was there.
const LATE: Duration = Duration::from_secs(120);
/// What a run without says nothing.
const SEEN: [&str; 5] = [
    "kills",
    "effects",
    "effects: seen to be recorded before",
    "replays of a first result",
    "clicks: approve",
];

/// The PostgreSQL of the kernels.
pub struct Shared {
    pub server: Server,
    pub database: Database,
}

/// All that there is to break.
pub struct Stage {
    pub programs: Vec<Program>,
    pub proxies: Vec<Proxy>,
    pub outside: Outside,
    pub place: Place,
    /// `None` for one kernel on SQLite.
    pub shared: Option<Shared>,
    pub counts: Arc<Counts>,
    pub chance: Chance,
}

impl Stage {
    /// Breaks one thing after another until this instant, and until each thing that is to be seen was seen.
    pub async fn trouble(&mut self, scene: &Scene, until: Instant) {
        let unseen = |counts: &Counts| SEEN.into_iter().find(|what| counts.of(what) == 0);
        while Instant::now() < until || unseen(&self.counts).is_some() {
            let late = Instant::now() > until + LATE;
            assert!(!late, "there were no {:?}", unseen(&self.counts));
            let calm = 5 + self.chance.below(40);
            scene.more_answers(calm, SPELL).await;
            let kernel = self.chance.below(self.programs.len());
            match (self.chance.below(10), self.shared.is_some()) {
                (0..2, _) => self.kill(kernel, "at any time").await,
                (2..4, _) => {
                    self.outside.next().await;
                    self.kill(kernel, "while a handler runs").await;
                }
                (4..6, _) => {
                    scene.next_click().await;
                    for _ in 0..self.chance.below(400) {
                        tokio::task::yield_now().await;
                    }
                    self.kill(kernel, "while somebody clicks").await;
                }
                (6, _) => {
                    if let Some(status) = self.programs[kernel].stop().await {
                        assert!(status.success(), "{}", self.programs[kernel].said());
                        self.counts.one("kernels stopped in good order");
                    }
                }
                (_, false) => self.fill_the_disk(scene).await,
                (7..9, true) => self.outage(scene).await,
                (_, true) => {
                    self.counts.one("PostgreSQL: all connections cut");
                    self.shared
                        .as_ref()
                        .unwrap()
                        .database
                        .cut_connections()
                        .await;
                }
            }
            // Of three kernels one may stay away for a while.
            let away = self.programs.len() > 1 && self.chance.percent(40);
            self.start_all(if away { Some(kernel) } else { None }).await;
        }
    }

    async fn kill(&mut self, kernel: usize, when: &str) {
        if self.programs[kernel].is_up() {
            self.programs[kernel].kill().await;
            self.counts.one("kills");
            self.counts.one(format!("kills: {when}"));
        }
        self.outside.release();
    }

    /// Starts what does not run, each with a clock that is right or wrong.
    pub async fn start_all(&mut self, but: Option<usize>) {
        for (place, program) in self.programs.iter_mut().enumerate() {
            if program.is_up() || but == Some(place) {
                continue;
            }
            let skew = match self.chance.percent(50) {
                true => 0,
                false => {
                    i32::try_from(self.chance.below(2 * SKEW)).unwrap()
                        - i32::try_from(SKEW).unwrap()
                }
            };
            if skew != 0 {
                self.counts.one("starts with a clock that is wrong");
            }
            self.counts.one("starts");
            if let Err(log) = program.start(skew).await {
                panic!("a kernel does not start again:\n{log}");
            }
        }
    }

    /// The disk is full: no file of the kernel's may become larger than it is, or than nothing.
    async fn fill_the_disk(&mut self, scene: &Scene) {
        let Place::Folder(folder) = &self.place else {
            return;
        };
        let log = std::fs::metadata(folder.join("actum.db-wal")).map_or(0, |file| file.len());
        let room = u64::try_from(self.chance.below(12_000)).unwrap();
        let most = if self.chance.percent(50) {
            0
        } else {
            log + room
        };
        if !self.programs[0].limit_files(Some(most)).await {
            self.counts
                .one("full disks that this system has no `prlimit` for");
            return;
        }
        self.counts.one("full disks");
        let refused = scene.more_refusals(1 + self.chance.below(8), SPELL).await;
        if refused {
            self.counts.one("full disks: seen by clients");
        }
        if self.chance.percent(30) {
            self.kill(0, "while the disk is full").await;
            return;
        }
        assert!(self.programs[0].limit_files(None).await);
        let works = scene.more_calls(1, RECOVERY).await;
        assert!(
            works,
            "the disk has room again, and nothing runs:\n{}",
            self.programs[0].said()
        );
    }

    /// PostgreSQL is away, by a stop or by a crash.
    async fn outage(&mut self, scene: &Scene) {
        let mode = *self.chance.one(&["fast", "immediate"]);
        let shared = self.shared.as_ref().unwrap();
        tokio::task::block_in_place(|| shared.server.stop(mode));
        self.counts.one(format!("PostgreSQL: outages, {mode}"));
        scene.more_refusals(1 + self.chance.below(8), SPELL).await;
        if self.chance.percent(40) {
            let kernel = self.chance.below(self.programs.len());
            self.kill(kernel, "while PostgreSQL is away").await;
            if !self.programs[kernel].is_up() {
                let refused = self.programs[kernel].start(0).await;
                assert!(refused.is_err(), "a kernel starts without its store");
                self.counts.one("starts refused without PostgreSQL");
            }
        }
        let shared = self.shared.as_ref().unwrap();
        tokio::task::block_in_place(|| shared.server.start_again());
        if self.programs.iter().any(Program::is_up) {
            let works = scene.more_calls(1, RECOVERY).await;
            assert!(
                works,
                "PostgreSQL is back, and nothing runs:\n{}",
                self.programs[0].said()
            );
        }
    }

    /// Lets everything run again, so that what was left behind is taken up: all kernels are stopped and started once more,
    /// and a kernel that was killed counts as silent for a minute.
    pub async fn calm(&mut self) {
        self.proxies.iter().for_each(|proxy| proxy.mischief(0));
        self.start_all(None).await;
        self.stop_all().await;
        if let Some(shared) = &self.shared {
            shared.database.sql("DELETE FROM kernels").await.unwrap();
        }
        for program in &mut self.programs {
            program.start(0).await.unwrap();
        }
    }

    pub async fn stop_all(&mut self) {
        for program in &mut self.programs {
            let status = program.stop().await;
            assert!(
                status.is_some_and(|status| status.success()),
                "{status:?}\n{}",
                program.said()
            );
        }
    }
}
