//! The gate and the view, on every combination of a small universe.
//!
//! There is one action, `x`. All that the gate can ask about it is varied, everything with everything,
//! and each answer is compared with a decision table, of which the first row that applies decides. A
//! table knows nothing of grants, catalogs and digests, only what was done to them in words.
//!
//! There are two such universes, since everything at once would be too many cases for a test. Here: the
//! lists, caveats, modes and evidence of a grant, and what leaves the kernel, with one egress class and
//! one output channel. In [`claims`]: what an action requires of its actor, and what manifests and claims
//! make of it together.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says where it fails"
)]

#[path = "gate_small_universe/asked.rs"]
mod asked;
#[path = "gate_small_universe/case.rs"]
mod case;
#[path = "gate_small_universe/claims/mod.rs"]
mod claims;
#[path = "gate_small_universe/existing.rs"]
mod existing;
#[path = "gate_small_universe/granted.rs"]
mod granted;
mod support;

use actum::project;

use asked::requests;
use case::{Bound, Case, DECIDED, Decided, NOW, TOKENS, Token, Tool};
use existing::catalogs;
use granted::grants;
use support::Outcome::Deny;
use support::{at, decide};

/// Compares every combination with the table, and what is shown with what can be called. Returns
/// how many combinations there were.
fn compare_all(bounds: &[Bound], tokens: &[Token], decisions: &[Decided]) -> usize {
    let existing: Vec<_> = catalogs()
        .iter()
        .map(|half| (*half, half.build()))
        .collect();
    let mut count = 0;
    for granted in grants(bounds) {
        let grant = granted.build();
        let asked = requests(granted.bound, tokens, decisions);
        for (half, catalog) in &existing {
            let mut callable = None;
            for one in &asked {
                let case = Case {
                    lists: granted.lists,
                    allowlist: granted.allowlist,
                    over: granted.over,
                    shadow: granted.shadow,
                    bound: granted.bound,
                    tool: half.tool,
                    egress: half.egress,
                    token_required: half.token_required,
                    kernel_origin: half.kernel_origin,
                    by_kernel: one.by_kernel,
                    token: one.token,
                    decided: one.decided,
                };
                let given = decide(&grant, &one.request, catalog, one.evidence(), at(NOW));
                assert!(
                    given == case.expected(),
                    "{case:#?} gave {given:?}, not {:?}",
                    case.expected()
                );
                count += 1;
                if !one.by_kernel && !matches!(given, Deny(_)) {
                    callable = Some(case);
                }
            }

            let shown = !project(&grant, catalog).is_empty();
            match half.tool {
                // A view does not know the time, and its reader may have other arguments to give.
                _ if granted.over => {}
                Tool::Plain | Tool::AlwaysAsks
                    if matches!(
                        granted.bound,
                        Bound::Missed | Bound::Missing | Bound::Wrapped
                    ) => {}
                Tool::Plain | Tool::AlwaysAsks => assert!(
                    shown == callable.is_some(),
                    "shown: {shown}, and callable as {callable:#?}: {granted:?} {half:?}"
                ),
                _ => assert!(!shown, "{granted:?} {half:?}"),
            }
        }
    }
    count
}

#[test]
fn every_combination_is_decided_as_the_table_says() {
    let count = compare_all(&[Bound::None], &TOKENS, &DECIDED);
    println!("{count} combinations");
    assert_eq!(count, 4_437_504);
}

#[test]
fn every_combination_with_a_bound_argument_is_decided_as_the_table_says() {
    let bounds = [
        Bound::Met,
        Bound::Missed,
        Bound::Missing,
        Bound::Wrapped,
        Bound::NoSuchArgument,
        Bound::Contradictory,
        Bound::ModelTier,
    ];
    let tokens = [Token::Absent, Token::Right];
    let decisions = [Decided::Nothing, Decided::Approved, Decided::Rejected];
    let count = compare_all(&bounds, &tokens, &decisions);
    println!("{count} combinations");
    assert_eq!(count, 2_588_544);
}
