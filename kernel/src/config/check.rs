//! What a configuration that can be read has to keep: each check tells every fault that it finds, and goes on.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use actum::ActionId;
use actum::authority::Listed;
use actum::authority::document::{Located, Report};
use actum::authority::terms::VerificationMethod;

use super::{Approvals, Connector, Ledger, Limits, Mcp, Recovery, Traces};
use crate::ledger::notary::is_origin;

/// The most records that a checkpoint may be late.
const MAX_UNSIGNED: u64 = 1_000_000;
/// The longest time between two looks, in seconds: nobody waits longer for a call that was cut off.
const MOST_LOOK_SECONDS: u64 = 60 * 60;
/// The most traces of which one is kept.
const MOST_ONE_IN: u64 = 1_000_000;
/// The most a bound in seconds may be: a day.
const MAX_SECONDS: u64 = 24 * 60 * 60;

pub(super) fn known_actions(listed: &[Listed], report: &Report) -> Vec<ActionId> {
    let parsed = listed.iter().enumerate().map(|(index, listed)| {
        ActionId::parse(&listed.id).map_err(|fault| {
            let what = format!("`{}` is no action id", listed.id.escape_debug());
            report.fault(
                listed.position,
                format!("known_actions[{index}]"),
                what,
                fault.to_string(),
            );
        })
    });
    parsed.filter_map(Result::ok).collect()
}

pub(super) fn connectors(connectors: &[Connector], report: &Report) {
    let mut seen = BTreeSet::new();
    for (index, connector) in connectors.iter().enumerate() {
        let field = |name: &str| format!("connectors[{index}].{name}");
        let id = connector.id.as_str();
        if !is_word(id) {
            report.fault(
                connector.id.position,
                field("id"),
                format!("`{id}` is no connector id"),
                "use 1 to 64 lower-case letters, digits and `_`; a key file has this name",
            );
        }
        if !seen.insert(id) {
            report.fault(
                connector.id.position,
                field("id"),
                format!("a second connector `{id}`"),
                "rename one",
            );
        }
        let has_method = connector.verification_method != VerificationMethod::None;
        if connector.verified_source.value != has_method {
            report.fault(
                connector.verified_source.position,
                field("verified_source"),
                "does not fit `verification_method`",
                "a connector that verifies says how; one that does not has the method `none`",
            );
        }
    }
}

pub(super) fn approvals(approvals: &Approvals, report: &Report) {
    bounded(
        report,
        &approvals.expires_seconds,
        1..=7 * MAX_SECONDS,
        "approvals.expires_seconds",
        "use 1 to 604800 seconds",
    );
    let people = approvals.approvers.len() + 1;
    let quorum = &approvals.quorum;
    if quorum.value == 0 || usize::try_from(quorum.value).is_ok_and(|n| n > people) {
        report.fault(
            quorum.position,
            "approvals.quorum",
            format!("{quorum} have to approve, and {people} may"),
            "name more `approvers`, or ask for fewer; the owner is one of them",
        );
    }
    let mut seen = BTreeSet::from(["owner"]);
    for (index, approver) in approvals.approvers.iter().enumerate() {
        let id = approver.id.as_str();
        if !is_word(id) || !seen.insert(id) {
            report.fault(
                approver.id.position,
                format!("approvals.approvers[{index}].id"),
                format!("`{id}` is no name of its own"),
                "use 1 to 64 lower-case letters, digits and `_`, once, and not `owner`; a key file has this name",
            );
        }
    }
}

pub(super) fn ledger(ledger: &Ledger, report: &Report) {
    if let Some(origin) = &ledger.origin
        && !is_origin(origin)
    {
        report.fault(
            origin.position,
            "ledger.origin",
            format!("`{}` is no origin", origin.escape_debug()),
            "write up to 200 bytes without white space and `+`, such as example.org/actum",
        );
    }
    let bounds = [
        (
            "checkpoint_records",
            ledger.checkpoint_records,
            MAX_UNSIGNED,
        ),
        ("checkpoint_seconds", ledger.checkpoint_seconds, MAX_SECONDS),
    ];
    for (name, bound, most) in bounds {
        let mend = format!("use 1 to {most}");
        bounded(report, &bound, 1..=most, format!("ledger.{name}"), mend);
    }
}

pub(super) fn recovery(recovery: &Recovery, report: &Report) {
    bounded(
        report,
        &recovery.look_seconds,
        1..=MOST_LOOK_SECONDS,
        "recovery.look_seconds",
        format!("use 1 to {MOST_LOOK_SECONDS} seconds"),
    );
}

pub(super) fn mcp(mcp: &Mcp, report: &Report) {
    bounded(
        report,
        &mcp.list_seconds,
        0..=MAX_SECONDS,
        "mcp.list_seconds",
        "use 0, for not at all, to 86400 seconds",
    );
    for (index, host) in mcp.hosts.iter().enumerate() {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
        if host.is_empty() || !host.chars().all(is_name) {
            report.fault(
                host.position,
                format!("mcp.hosts[{index}]"),
                format!("`{}` is no host name", host.escape_debug()),
                "write a name without scheme and port, such as kernel.example.org",
            );
        }
    }
    for (index, origin) in mcp.origins.iter().enumerate() {
        let url = http_url(origin);
        if url.is_none_or(|url| url.origin().ascii_serialization() != **origin) {
            report.fault(
                origin.position,
                format!("mcp.origins[{index}]"),
                format!("`{}` is no origin", origin.escape_debug()),
                "write scheme, host and port alone, such as https://chat.example.org",
            );
        }
    }
    if let Some(oauth) = &mcp.oauth {
        let is_url = |text: &str| http_url(text).is_some_and(|url| url.fragment().is_none());
        if !is_url(&oauth.resource) {
            report.fault(
                oauth.resource.position,
                "mcp.oauth.resource",
                format!(
                    "`{}` is no http or https URL",
                    oauth.resource.escape_debug()
                ),
                "write the URL of this kernel's `/mcp`, such as https://kernel.example.org/mcp",
            );
        }
        if oauth.issuers.is_empty() {
            report.fault(
                oauth.resource.position,
                "mcp.oauth.issuers",
                "is empty",
                "name at least one issuer of tokens, or leave `oauth` out",
            );
        }
        for (index, issuer) in oauth.issuers.iter().enumerate() {
            if !is_url(issuer) {
                report.fault(
                    issuer.position,
                    format!("mcp.oauth.issuers[{index}]"),
                    format!("`{}` is no http or https URL", issuer.escape_debug()),
                    "write the issuer's URL, such as https://login.example.org",
                );
            }
        }
    }
}

pub(super) fn traces(traces: &Traces, report: &Report) {
    if http_url(&traces.endpoint).is_none() {
        report.fault(
            traces.endpoint.position,
            "traces.endpoint",
            format!("`{}` is no http or https URL", traces.endpoint),
            "write where the collector takes traces, such as http://127.0.0.1:4318/v1/traces",
        );
    }
    bounded(
        report,
        &traces.one_in,
        1..=MOST_ONE_IN,
        "traces.one_in",
        format!("use 1, for every trace, to {MOST_ONE_IN}"),
    );
}

pub(super) fn http_url(text: &str) -> Option<reqwest::Url> {
    let url = reqwest::Url::parse(text).ok()?;
    let fits = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    fits.then_some(url)
}

/// Tells of a number that is out of its bounds.
fn bounded<T: PartialOrd>(
    report: &Report,
    number: &Located<T>,
    within: RangeInclusive<T>,
    field: impl Into<String>,
    mend: impl Into<String>,
) {
    if !within.contains(&number.value) {
        report.fault(number.position, field, "is out of bounds", mend);
    }
}

pub(super) fn is_word(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    !id.is_empty() && id.len() <= 64 && id.bytes().all(plain)
}

pub(super) fn limits(limits: &Limits, report: &Report) {
    let sizes = [
        ("body_bytes", limits.body_bytes),
        ("concurrent_requests", limits.concurrent_requests),
        ("connections", limits.connections),
        ("result_bytes", limits.result_bytes),
    ];
    for (name, bound) in sizes {
        // Tokio's semaphores hold no more permits than this.
        let most = usize::MAX >> 3;
        let mend = "use a number from 1 on";
        bounded(report, &bound, 1..=most, format!("limits.{name}"), mend);
    }
    let times = [
        ("request_seconds", limits.request_seconds),
        ("handler_seconds", limits.handler_seconds),
        ("selection_seconds", limits.selection_seconds),
        ("stop_seconds", limits.stop_seconds),
    ];
    for (name, bound) in times {
        let mend = "use 1 to 86400 seconds";
        bounded(
            report,
            &bound,
            1..=MAX_SECONDS,
            format!("limits.{name}"),
            mend,
        );
    }
    if limits.handler_seconds.value > limits.request_seconds.value {
        // Only one of them may be written.
        let written = limits.handler_seconds.position;
        report.fault(
            written.or(limits.request_seconds.position),
            "limits.handler_seconds",
            "is more than `request_seconds`",
            "a request includes its handler; raise the one or lower the other",
        );
    }
}
