//! `actum recover`: the calls of unknown outcome, and what a person found out of them.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::approvals::seen;
use super::client::part;
use super::client::{Speaker, line};
use super::say;
use crate::calls::State;
use crate::owner::approvals::ToldCall;

#[derive(Debug, clap::Args)]
pub(super) struct Ask {
    /// The configuration of the running kernel.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Settle as this approver of the configuration, instead of the owner.
    #[arg(long = "as", value_name = "NAME")]
    approver: Option<String>,
    /// The call to settle; without it, those of unknown outcome are listed.
    #[arg(requires = "finding", requires = "reason")]
    call: Option<String>,
    /// It did what it was asked.
    #[arg(long, group = "finding", requires = "call")]
    succeeded: bool,
    /// It did not.
    #[arg(long, group = "finding", requires = "call")]
    failed: bool,
    /// How that was found out, in one line, for the record; the worker is told it.
    #[arg(long, value_name = "TEXT", requires = "call")]
    reason: Option<String>,
}

pub(super) async fn run(ask: Ask) -> Result<(), String> {
    let speaker = match ask.approver {
        None => Speaker::owner(ask.config)?,
        Some(approver) => Speaker::approver(ask.config, &approver)?,
    };
    let Some(call) = ask.call else {
        return list(&speaker).await;
    };
    // Its id, checked and as the kernel has it.
    let call = seen(&speaker, &call).await?.id;
    let outcome = match ask.succeeded {
        true => State::Succeeded,
        false => State::Failed,
    };
    let body = json!({"outcome": outcome, "reason": ask.reason});
    let path = format!("/v1/owner/calls/{call}/settle");
    let answer: Value = speaker.post(&path, &body).await?;
    let state: State = part(answer, "state")?;
    say(&format!("settled: the call is now `{}`\n", state.as_str()))
}

async fn list(speaker: &Speaker) -> Result<(), String> {
    let path = "/v1/owner/calls?state=outcome_unknown";
    let calls: Vec<ToldCall> = part(speaker.get(path).await?, "calls")?;
    if calls.is_empty() {
        return say("every outcome is known\n");
    }
    for call in &calls {
        say(&shown(call))?;
    }
    say(
        "Look where the effect of each would be, then `actum recover CALL --succeeded` or `--failed`, with `--reason TEXT`.\n",
    )
}

fn shown(call: &ToldCall) -> String {
    let text = |text: &Option<String>| text.as_deref().map(line).unwrap_or_default();
    let target = call.target.as_deref();
    let target = target.map(|target| format!(" of {}", line(target)));
    format!(
        "{}  {}{}  {}\n    asked {} for {}: {}\n    unknown because: {}\n",
        call.id,
        line(&call.action),
        target.unwrap_or_default(),
        line(&call.arguments.to_string()),
        line(&call.asked_at),
        text(&call.principal),
        text(&call.purpose),
        text(&call.reason),
    )
}
