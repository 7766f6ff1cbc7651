//! A folder with a configuration and manifests, gone at the end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use actum_kernel::config::Config;
use actum_kernel::store::verify_file;
use serde_json::Value;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{Row, SqlitePool};

/// The folder.
pub struct Home {
    folder: tempfile::TempDir,
}

/// What the tasks of one type of event may do: the event's type is the authority's name.
pub struct Authority<'a> {
    pub name: &'a str,
    pub allowed: &'a [&'a str],
    pub approval: &'a [&'a str],
    pub denied: &'a [&'a str],
    pub channels: &'a [&'a str],
    pub seconds: u64,
    /// The most calls of one lineage.
    pub calls: u32,
}

/// An authority over nothing, for ten minutes.
impl Default for Authority<'_> {
    fn default() -> Self {
        Self {
            name: "nothing",
            allowed: &[],
            approval: &[],
            denied: &[],
            channels: &[],
            seconds: 600,
            calls: 100_000,
        }
    }
}

impl Home {
    /// The sample, on a port that is free, and with room for as many calls as a test makes.
    pub fn sample() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = actum_kernel::sample::write_once(folder.path()).unwrap();
        let text = std::fs::read_to_string(&config).unwrap();
        let free = text.replace("listen: 127.0.0.1:7373", "listen: 127.0.0.1:0");
        assert_ne!(text, free);
        std::fs::write(config, free).unwrap();
        for agent in std::fs::read_dir(folder.path().join("manifests/agents")).unwrap() {
            let path = agent.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let roomy = text.replace("calls_per_task: ", "calls_per_task: 1000");
            assert_ne!(text, roomy);
            std::fs::write(path, roomy).unwrap();
        }
        Self { folder }
    }

    /// One verified connector `desk` of this source that may hand in an event of each authority's
    /// name, and `more` at the end of the configuration.
    pub fn desk(source: &str, authorities: &[Authority<'_>], more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Self { folder };
        let names: Vec<&str> = authorities.iter().map(|authority| authority.name).collect();
        home.write(
            "actum.yaml",
            &format!(
                "listen: 127.0.0.1:0
data: data
manifests: manifests
connectors:
  - id: desk
    source: {source}
    event_types: [{}]
    lane: owner_control
    verified_source: true
    verification_method: webhook_signature
    data_classification: public
owner: {{ connector: desk, device_id: desk }}
{more}",
                names.join(", ")
            ),
        );
        home.write(
            "manifests/policies/global.yaml",
            "id: global
schema_version: 1
lifecycle_state: active
",
        );
        for authority in authorities {
            authority.write(&home, source);
        }
        home
    }

    /// A desk whose authority `work` is at work in a scenario, with an actor, Ada, who is a clerk and has these claims, in
    /// YAML.
    pub fn office(authorities: &[Authority<'_>], claims: &str) -> Self {
        let people = "identities:
  - identity_id: 01J00000000000000000000ADA
    principal_id: 01J00000000000000000000ADA
    relationship: owner
    identifiers:
      - { kind: handle, value: ada, verified_by: [chat] }
";
        let home = Self::desk("chat", authorities, people);
        let route = "manifests/routes/work.yaml";
        let text = std::fs::read_to_string(home.path().join(route)).unwrap();
        home.write(route, &format!("{text}scenario: office\n"));
        home.write(
            "manifests/scenarios/office.yaml",
            "id: office
schema_version: 1
lifecycle_state: active
mode: standard
",
        );
        home.ada_has(claims);
        home
    }

    /// Gives Ada these claims, and no others.
    pub fn ada_has(&self, claims: &str) {
        self.write(
            "manifests/actors/ada.yaml",
            &format!(
                "id: ada
schema_version: 1
lifecycle_state: active
principal_id: 01J00000000000000000000ADA
roles: [clerk]
claims: {claims}
"
            ),
        );
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn data(&self) -> PathBuf {
        self.path().join("data")
    }

    pub fn config_file(&self) -> PathBuf {
        self.path().join("actum.yaml")
    }

    pub fn config(&self) -> Config {
        Config::load(&self.config_file()).unwrap_or_else(|faults| panic!("{faults}"))
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Adds lines to the configuration.
    pub fn configure(&self, more: &str) {
        let text = std::fs::read_to_string(self.config_file()).unwrap();
        self.write("actum.yaml", &format!("{text}\n{more}\n"));
    }

    /// The ledger's records, as `(kind, body)`, with the chain checked.
    pub async fn ledger(&self) -> Vec<(String, Value)> {
        if let Err(broken) = verify_file(&self.data()).await.unwrap() {
            panic!("the ledger does not hold: {broken}");
        }
        self.rows("SELECT kind, body FROM audit ORDER BY seq")
            .await
            .into_iter()
            .map(|(kind, body)| (kind, serde_json::from_str(&body).unwrap()))
            .collect()
    }

    /// The calls that were started or held, as `(action, state)`.
    pub async fn calls(&self) -> Vec<(String, String)> {
        self.rows("SELECT action, state FROM calls ORDER BY id")
            .await
    }

    /// Whether the store has the task down as taken back.
    pub async fn is_revoked(&self, task: &str) -> bool {
        let revoked = "SELECT id, revoked_at FROM tasks WHERE revoked_at IS NOT NULL";
        self.rows(revoked).await.iter().any(|(id, _)| id == task)
    }

    async fn rows(&self, query: &'static str) -> Vec<(String, String)> {
        let pool = self.database().await;
        let rows = sqlx::query(query).fetch_all(&pool).await.unwrap();
        pool.close().await;
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    async fn database(&self) -> SqlitePool {
        let options = SqliteConnectOptions::new()
            .filename(self.data().join("actum.db"))
            .read_only(true);
        let pool = SqlitePoolOptions::new().max_connections(1);
        pool.connect_with(options).await.unwrap()
    }

    /// The bytes of every file below the folder that holds state or tells of it: the store with its
    /// log, and what the kernel wrote to standard output and error.
    pub fn traces(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        for folder in [self.path().to_owned(), self.data()] {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() && !path.ends_with("bot.token") {
                    found.push((path.clone(), std::fs::read(&path).unwrap()));
                }
            }
        }
        let has = |name: &str| found.iter().any(|(path, _)| path.ends_with(name));
        assert!(has("actum.db"), "the store is among them");
        found
    }
}

impl Authority<'_> {
    fn write(&self, home: &Home, source: &str) {
        let Self {
            name,
            seconds,
            calls,
            ..
        } = self;
        home.write(
            &format!("manifests/agents/{name}.yaml"),
            &format!(
                "id: {name}
schema_version: 1
lifecycle_state: active
purpose: Test {name}.
persistence: ephemeral
persona: plain
model_policy:
  allowed_providers: [local]
  private_context_requires_gateway: true
  max_model_calls_per_task: {calls}
designed_tools:{}
approval_required_tools:{}
limits: {{ max_runtime_seconds: {seconds}, max_artifacts: 1, max_tokens: 1 }}
output_channels:
  allowed:{}
",
                list(self.allowed),
                list(self.approval),
                list(self.channels),
            ),
        );
        home.write(
            &format!("manifests/packs/{name}.yaml"),
            &format!(
                "id: {name}
schema_version: 1
lifecycle_state: active
applies_to:
  event_type: {name}
candidate_allowed_actions:{}
approval_required:{}
denied_actions:{}
constraints:
  data_classification_max: private
",
                list(self.allowed),
                list(self.approval),
                list(self.denied),
            ),
        );
        home.write(
            &format!("manifests/workflows/{name}.yaml"),
            &format!(
                "id: {name}
schema_version: 1
lifecycle_state: active
purpose: Test {name}.
required_agent: {name}
required_capability_pack: {name}
"
            ),
        );
        home.write(
            &format!("manifests/routes/{name}.yaml"),
            &format!(
                "id: {name}
schema_version: 1
lifecycle_state: active
when:
  source: {source}
  event_type: {name}
agent: {name}
workflow: {name}
capability_pack: {name}
"
            ),
        );
    }
}

/// A YAML list in flow form, each text quoted.
fn list(items: &[&str]) -> String {
    let mut out = String::from(" [");
    for item in items {
        let _ = write!(out, "{item:?}, ");
    }
    out.push(']');
    out
}
