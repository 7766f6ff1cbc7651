//! `actum session`: what a task could see, from what was stored with it.

mod records;

use std::fmt::Write as _;
use std::path::PathBuf;

use actum::authorization::{Exposures, Outcome};
use actum::explain::Explainer;
use actum::gate::Standing;
use actum::{ActionCatalog, Digest, ToolDescriptor, project};
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::explain::{left_as_json, mandate, notes};
use super::load_config;
use super::origin::{Origin, archive, linked_catalog, task_id};
use crate::clock::Clock;
use crate::lineage::{TOLD, state, told, told_report};
use crate::printable;
use crate::store::{ArchivedTask, CommissionedTask};
use records::{Records, text};

/// What `actum session` is asked for.
#[derive(Debug, Args)]
pub(super) struct Ask {
    /// The task's id.
    task: String,
    /// The configuration that names the store.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// As JSON, with the tools in the very bytes that the worker got.
    #[arg(long)]
    json: bool,
}

/// All that is told of a task.
struct Session {
    origin: Origin,
    task: ArchivedTask,
    /// The tasks that it commissioned.
    commissioned: Vec<CommissionedTask>,
    records: Records,
    problems: Vec<String>,
    /// The catalog of what is linked now; `None` where that is none.
    linked: Option<ActionCatalog>,
    now: Timestamp,
}

pub(super) async fn run(ask: &Ask) -> Result<(), String> {
    let config = load_config(ask.config.clone())?;
    let id = task_id(&ask.task)?;
    let mut archive = archive(&config).await?;
    let (mut origin, task) = Origin::of_task(&config, &mut archive, id).await?;
    let records = Records::read(&mut archive, id).await;
    let records = records.map_err(|error| error.to_string())?;
    let commissioned = archive.commissioned(id, TOLD).await;
    let commissioned = commissioned.map_err(|error| error.to_string())?;
    let problems = records.problems(&task, &origin.grant, &origin.catalog);
    if records.issued.is_some() && !records.has_exposures() {
        let note = "it was issued by a version that kept no exposures: those told here are worked out anew, and there are none to hold them against";
        origin.notes.push(note.to_owned());
    }
    let session = Session {
        origin,
        task,
        commissioned,
        records,
        problems,
        linked: linked_catalog(&config).ok(),
        now: Clock::system().now(),
    };
    let text = match ask.json {
        true => session.told_as_json()? + "\n",
        false => session.told(),
    };
    super::say(&text)?;
    match session.problems.as_slice() {
        [] => Ok(()),
        problems => Err(format!(
            "the records of task {id} do not agree:\n{}",
            problems.join("\n")
        )),
    }
}

/// The answer for programs. The tools are the bytes of `GET /v1/task`, as they are.
#[derive(Serialize)]
struct Told<'a> {
    task: Value,
    catalog: Catalog<'a>,
    exposures: &'a Exposures,
    calls: Vec<Value>,
    refused: Vec<Value>,
    /// Whether there are more calls or refusals than are told.
    is_cut: bool,
    records: Value,
}

#[derive(Serialize)]
struct Catalog<'a> {
    digest: String,
    stored_digest: String,
    is_the_one_of_now: bool,
    tools: &'a RawValue,
}

/// Whether a descriptor is the stored one, by canonical form: `1.0` is read back as `1`.
fn is_same(now: &ToolDescriptor, stored: Option<&ToolDescriptor>) -> bool {
    let digests = Digest::of_json(now).ok().zip(Digest::of_json(&stored).ok());
    digests.is_some_and(|(now, stored)| now == stored)
}

impl Session {
    /// The digest of the stored catalog is that of what is linked now.
    fn is_catalog_of_now(&self) -> bool {
        let now = self.linked.as_ref().and_then(|linked| linked.digest().ok());
        now == Some(self.origin.grant.catalog_digest())
    }

    fn told_as_json(&self) -> Result<String, String> {
        let Self {
            origin,
            task,
            records,
            problems,
            ..
        } = self;
        let root = origin.grant.root();
        let now = self.now.to_string();
        let explainer = Explainer::new(&origin.grant, &origin.catalog, origin.manifests.as_ref());
        let view = project(&origin.grant, &origin.catalog);
        let mut tools = String::new();
        view.write_tools(&mut tools);
        let tools = RawValue::from_string(tools).map_err(|error| error.to_string())?;
        let calls = records.calls.iter().map(|(call, authorization)| {
            json!({
                "id": call.id, "action": call.action, "state": call.state,
                "created_at": call.created_at, "updated_at": call.updated_at,
                "authorization": authorization,
            })
        });
        let refused = records.refused.iter().map(|record| {
            json!({
                "at": record.at, "record": record.seq,
                "action": record.body.get("action"),
                "authorization": record.body.get("authorization"),
            })
        });
        let told = Told {
            task: json!({
                "id": origin.grant.task_id(),
                "principal": root.principal,
                "purpose": origin.grant.purpose(),
                "parent": task.parent,
                "limits": origin.grant.limits(),
                "message": task.message,
                "mandate": origin.grant.mandate(),
                "left": left_as_json(explainer.left()),
                "authority_sources": root.authority_sources,
                "policy_revision": root.policy_revision,
                "issued_at": origin.grant.issued_at(),
                "expires_at": origin.grant.expires_at(),
                "revoked_at": task.revoked_at,
                "ended_at": task.end.as_ref().map(|end| &end.at),
                "outcome": task.end.as_ref().map(|end| end.outcome.as_str()),
                "report": task.end.as_ref().map(told_report),
                "commissioned": self.commissioned.iter().map(|one| told(one, &now)).collect::<Vec<_>>(),
            }),
            catalog: Catalog {
                digest: view.digest().to_string(),
                stored_digest: origin.grant.catalog_digest().to_string(),
                is_the_one_of_now: self.is_catalog_of_now(),
                tools: &tools,
            },
            exposures: &self.exposures(),
            calls: calls.collect(),
            refused: refused.collect(),
            is_cut: records.is_cut,
            records: json!({
                "agree": problems.is_empty(),
                "problems": problems,
                "notes": origin.notes,
                "issued_by": records.issued.as_ref().map(|record| record.seq),
                "ledger_ends": records.ledger.as_ref().ok().map(|head| head.seq),
            }),
        };
        serde_json::to_string(&told).map_err(|error| error.to_string())
    }

    /// Those of then, where they are stored and can be read; otherwise as they are worked out now.
    fn exposures(&self) -> Exposures {
        let stored = self.records.exposures.as_deref();
        let stored = stored.and_then(|stored| serde_json::from_str(stored).ok());
        stored.unwrap_or_else(|| Exposures::of(&self.origin.grant, &self.origin.catalog))
    }

    fn told(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        self.tools(&mut out);
        self.absent(&mut out);
        self.calls(&mut out);
        self.agreement(&mut out);
        out
    }

    fn head(&self, out: &mut String) {
        let origin = &self.origin;
        let root = origin.grant.root();
        let expires = origin.grant.expires_at();
        let over = match expires <= self.now {
            true => ", over",
            false => "",
        };
        let principal = printable::line(&root.principal.to_string(), 300);
        let _ = writeln!(out, "task       {}", origin.grant.task_id());
        if let Some(parent) = self.task.parent {
            let _ = writeln!(out, "           commissioned by {parent}");
        }
        let _ = writeln!(out, "principal  {principal}");
        let purpose = printable::line(origin.grant.purpose(), 500);
        let _ = writeln!(out, "purpose    {purpose}");
        if let Some(message) = &self.task.message {
            let _ = writeln!(out, "message    {}", printable::line(message, 300));
        }
        let _ = writeln!(out, "mandate    {}", mandate(&origin.grant));
        let _ = writeln!(out, "sources    {}", root.authority_sources.join(", "));
        let _ = writeln!(out, "revision   {}", root.policy_revision);
        let _ = writeln!(out, "issued     {}", origin.grant.issued_at());
        let _ = writeln!(out, "expires    {expires}{over}");
        if let Some(at) = self.task.revoked_at {
            let _ = writeln!(out, "revoked    {at}");
        }
        self.lineage(out);
        let moved = match self.is_catalog_of_now() {
            true => "as it is now",
            false => "another than now",
        };
        let digest = origin.grant.catalog_digest();
        let _ = writeln!(out, "catalog    {digest}, {moved}");
        let explainer = Explainer::new(&origin.grant, &origin.catalog, origin.manifests.as_ref());
        notes(out, &origin.notes, explainer.left());
    }

    /// How it ended by its worker's word, and what it commissioned.
    fn lineage(&self, out: &mut String) {
        if let Some(end) = &self.task.end {
            let report = printable::line(&end.report.to_string(), 4_000);
            let _ = writeln!(out, "ended      {}, {}", end.at, end.outcome.as_str());
            let _ = writeln!(out, "report     {report}");
        }
        let now = self.now.to_string();
        for one in &self.commissioned {
            let purpose = printable::line(&one.purpose, 500);
            let _ = writeln!(
                out,
                "commission {}, {}: {purpose}",
                one.id,
                state(one, &now)
            );
        }
    }

    fn tools(&self, out: &mut String) {
        let view = project(&self.origin.grant, &self.origin.catalog);
        let _ = writeln!(out, "\nshown, view {}", view.digest());
        for tool in view.tools() {
            let mark = match tool.standing() {
                Standing::Allowed => "",
                Standing::ApprovalRequired => " (requires owner approval)",
            };
            let id = tool.id().as_str();
            let linked = self.linked.as_ref();
            let now = linked.and_then(|linked| linked.tool_descriptor_for(id));
            let since = match now {
                None => ", nothing describes it now",
                Some(now) if !is_same(now, self.origin.catalog.tool_descriptor_for(id)) => {
                    ", described otherwise now"
                }
                Some(_) => "",
            };
            let descriptor = tool.descriptor();
            let _ = writeln!(out, "  {}{mark}{since}", descriptor.name);
            let _ = writeln!(out, "      {}", descriptor.description);
            let _ = writeln!(out, "      {}", descriptor.parameters_schema);
        }
        if view.is_empty() {
            out.push_str("  no tools\n");
        }
    }

    fn absent(&self, out: &mut String) {
        let exposures = self.exposures();
        out.push_str("\nabsent\n");
        let absent = exposures.records.iter();
        for record in absent.filter(|record| record.outcome == Outcome::Absent) {
            let missing = match record.missing.as_slice() {
                [] => String::new(),
                missing => format!(", missing {}", missing.join(", ")),
            };
            let _ = writeln!(out, "  {}: {}{missing}", record.operation_id, record.reason);
        }
        if exposures.left_out > 0 {
            let _ = writeln!(out, "  and {} more", exposures.left_out);
        }
    }

    fn calls(&self, out: &mut String) {
        out.push_str("\ncalls\n");
        for (call, authorization) in &self.records.calls {
            let reason = authorization.as_ref().and_then(|it| it.get("reason"));
            let reason = reason.and_then(Value::as_str).unwrap_or("no record");
            let _ = writeln!(
                out,
                "  {} {} {}: {}, {reason}",
                call.created_at, call.id, call.action, call.state
            );
        }
        for record in &self.records.refused {
            let _ = writeln!(
                out,
                "  {} {}: refused, {}",
                record.at,
                // Whatever the worker sent stands here.
                printable::line(text(record, "action").unwrap_or_default(), 128),
                text(record, "reason").unwrap_or("no reason")
            );
        }
        if self.records.calls.is_empty() && self.records.refused.is_empty() {
            out.push_str("  none\n");
        }
        if self.records.is_cut {
            out.push_str("  and more, which are left out\n");
        }
    }

    fn agreement(&self, out: &mut String) {
        let Records { issued, ledger, .. } = &self.records;
        let told = match (self.problems.as_slice(), issued, ledger) {
            ([], Some(issued), Ok(head)) => format!(
                "agree: the seal, the grant, its catalog and its exposures are those of record {} of the ledger, which holds to its end, record {}",
                issued.seq, head.seq
            ),
            (problems, ..) => format!("do not agree: {}", problems.join("; ")),
        };
        let _ = writeln!(out, "\nrecords    {told}");
    }
}
