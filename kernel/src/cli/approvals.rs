//! `actum approvals`: the calls that wait, and the decisions on them.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};
use ulid::Ulid;

use super::client::{Speaker, indented, line, part};
use super::say;
use crate::calls::State;
use crate::owner::approvals::ToldCall;
use crate::owner::change::ToldChange;
use crate::printable;

#[derive(Debug, Subcommand)]
pub(super) enum Ask {
    /// List the calls that wait.
    List,
    /// Show a call with all that a decision on it is bound to.
    Show {
        /// The call's id.
        call: String,
    },
    /// Approve a call: the kernel runs it, once, just as it is shown.
    Approve {
        /// The call's id.
        call: String,
        /// The binding that was seen, where a program decides. Without it, the call is shown as it is approved.
        #[arg(long, value_name = "DIGEST")]
        binding: Option<String>,
        /// Why, in one line, for the record.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Reject a call.
    Reject {
        /// The call's id.
        call: String,
        /// Why, in one line, for the record; the worker is told it.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Put the same call in the place of one that waits, bound to the manifests that are in force now.
    Renew {
        /// The call's id.
        call: String,
    },
    /// Put a call with other arguments in the place of one that waits. It waits in its turn.
    Edit {
        /// The call's id.
        call: String,
        /// The arguments, as a JSON object.
        #[arg(value_name = "FILE")]
        arguments: PathBuf,
    },
}

pub(super) async fn run(
    config: Option<PathBuf>,
    approver: Option<String>,
    ask: Option<Ask>,
) -> Result<(), String> {
    let speaker = match approver {
        None => Speaker::owner(config)?,
        Some(approver) => Speaker::approver(config, &approver)?,
    };
    match ask.unwrap_or(Ask::List) {
        Ask::List => list(&speaker).await,
        Ask::Show { call } => say(&shown(&seen(&speaker, &call).await?)),
        Ask::Approve {
            call,
            binding,
            reason,
        } => {
            let call = seen(&speaker, &call).await?;
            if binding.is_none() {
                say(&shown(&call))?;
            }
            let seen = binding.map_or_else(|| json!(call.binding), Value::from);
            decide(&speaker, &call, "approve", seen, reason).await
        }
        Ask::Reject { call, reason } => {
            let call = seen(&speaker, &call).await?;
            decide(&speaker, &call, "reject", json!(call.binding), reason).await
        }
        Ask::Renew { call } => renew(&speaker, &seen(&speaker, &call).await?).await,
        Ask::Edit { call, arguments } => {
            edit(&speaker, &seen(&speaker, &call).await?, &arguments).await
        }
    }
}

/// A call as the kernel tells of it.
pub(super) async fn seen(speaker: &Speaker, id: &str) -> Result<ToldCall, String> {
    let id = Ulid::from_string(id).map_err(|_| format!("`{}` is no call's id", line(id)))?;
    part(speaker.get(&format!("/v1/owner/calls/{id}")).await?, "call")
}

async fn list(speaker: &Speaker) -> Result<(), String> {
    let calls: Vec<ToldCall> = part(speaker.get("/v1/owner/calls").await?, "calls")?;
    if calls.is_empty() {
        return say("nothing waits\n");
    }
    for call in &calls {
        let until = call.expires_at.map(|at| at.to_string()).unwrap_or_default();
        say(&format!(
            "{}  {}  until {until}  {}\n",
            call.id,
            line(&call.action),
            line(&call.arguments.to_string()),
        ))?;
    }
    Ok(())
}

/// All that a decision is bound to. What strangers and models wrote is without anything that a terminal would
/// obey.
pub(super) fn shown(call: &ToldCall) -> String {
    let rows = [
        ("call", Some(call.id.to_string())),
        ("state", Some(call.state.as_str().to_owned())),
        ("action", Some(call.action.clone())),
        ("does", call.description.clone()),
        ("for", call.principal.clone()),
        ("purpose", call.purpose.clone()),
        (
            "by",
            call.commissioned_by
                .map(|task| format!("commissioned by the task {task}")),
        ),
        ("target", call.target.clone()),
        ("asked", Some(call.asked_at.clone())),
        ("until", call.expires_at.map(|at| at.to_string())),
        ("reason", call.reason.clone()),
        ("instead", call.superseded_by.map(|other| other.to_string())),
        ("binding", call.binding.map(|binding| binding.to_string())),
    ];
    let mut out = String::new();
    for (title, text) in rows {
        if let Some(text) = text {
            out.push_str(&format!("{title:9} {}\n", line(&text)));
        }
    }
    if call.hides_secrets {
        out.push_str("secrets   what is shown in place of a secret argument is not what is sent\n");
    }
    let pretty = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
    if let Some(rendered) = &call.rendered {
        out.push_str(&format!("that is\n{}\n", indented(rendered)));
    }
    // Whoever decides has to see what is not seen in a letter.
    let pretty = printable::visible(&pretty);
    out.push_str(&format!("arguments\n{}\n", indented(&pretty)));
    if let Some(change) = &call.change {
        out.push_str(&change_of(change));
    }
    if let Some(message) = &call.message {
        out.push_str(&format!(
            "the task began with this message\n{}\n",
            indented(message)
        ));
    }
    for decision in &call.decisions {
        let verb = if decision.approved {
            "approved"
        } else {
            "rejected"
        };
        let why = decision
            .reason
            .as_ref()
            .map(|why| format!(": {}", line(why)));
        let who = line(&decision.approver);
        out.push_str(&format!("{verb} by {who}{}\n", why.unwrap_or_default()));
    }
    out
}

/// What a call would change of what is in force.
fn change_of(change: &ToldChange) -> String {
    if let Some(problem) = &change.problem {
        return format!("change    {}\n", line(problem));
    }
    let name = |name: &Option<String>| {
        name.as_ref()
            .map_or("nothing".to_owned(), |name| line(name))
    };
    let mut out = format!(
        "change    {} -> {}\n{}\n",
        name(&change.from),
        name(&change.to),
        indented(&change.lines)
    );
    for (route, differences) in &change.routes {
        out.push_str(&format!("for {}\n", line(route)));
        for one in differences {
            out.push_str(&format!("    {}\n", printable::line(one, 2_000)));
        }
    }
    out.push_str(&format!("in all    {}\n", line(&change.summary)));
    out
}

async fn renew(speaker: &Speaker, call: &ToldCall) -> Result<(), String> {
    let path = format!("/v1/owner/calls/{}/renew", call.id);
    let body = json!({"binding": call.binding});
    let new: Ulid = part(speaker.post(&path, &body).await?, "call")?;
    say(&format!(
        "{new} waits in its place; `actum approvals show {new}` shows it\n"
    ))
}

async fn decide(
    speaker: &Speaker,
    call: &ToldCall,
    verb: &str,
    binding: Value,
    reason: Option<String>,
) -> Result<(), String> {
    let path = format!("/v1/owner/calls/{}/{verb}", call.id);
    let body = json!({"binding": binding, "reason": reason});
    let answer = speaker.post(&path, &body).await?;
    let state: State = part(answer.clone(), "state")?;
    let word = |name: &str| {
        answer
            .get(name)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let told = match state {
        State::Pending => "noted; others have to approve too".to_owned(),
        State::Rejected => "rejected; nothing runs".to_owned(),
        State::Succeeded => format!("approved, and done: {}", line(&word("result"))),
        State::Refused => {
            return Err(format!(
                "approved, and refused as it was about to run: {}",
                line(&word("reason"))
            ));
        }
        other => return Err(format!("approved; the call is now `{}`", other.as_str())),
    };
    say(&format!("{told}\n"))
}

async fn edit(speaker: &Speaker, call: &ToldCall, file: &Path) -> Result<(), String> {
    let told = |problem: String| format!("{}: {problem}", file.display());
    let bytes = std::fs::read(file).map_err(|error| told(format!("cannot be read: {error}")))?;
    let arguments = actum::json::parse(&bytes).map_err(|fault| told(fault.to_string()))?;
    if !arguments.is_object() {
        return Err(told("holds no JSON object".to_owned()));
    }
    let path = format!("/v1/owner/calls/{}/edit", call.id);
    let body = json!({"binding": call.binding, "arguments": arguments});
    let new: Ulid = part(speaker.post(&path, &body).await?, "call")?;
    say(&format!(
        "{new} waits in its place; `actum approvals approve {new}` approves it\n"
    ))
}
