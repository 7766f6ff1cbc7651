//! What a call that waits would change of what is in force, as those who decide are told of it.

use std::collections::BTreeMap;

use actum::lock::tally_of;
use serde::{Deserialize, Serialize};

use crate::Kernel;
use crate::actions::artifact::wish_of;
use crate::artifacts;
use crate::calls::State;
use crate::store::{StoreError, StoredCall};

/// A change, in all that it does.
#[derive(Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToldChange {
    /// What is in force: an artifact or a file, by its name.
    pub from: Option<String>,
    /// What would be.
    pub to: Option<String>,
    /// The lines that differ, as a unified diff.
    pub lines: String,
    /// What each route gives and did not, or does not any more, and what that does to what a worker can do.
    pub routes: BTreeMap<String, Vec<String>>,
    /// How many of these widen, narrow and keep.
    pub summary: String,
    /// Why none of this can be told. Such a call is not carried out.
    pub problem: Option<String>,
}

impl ToldChange {
    fn none(problem: impl Into<String>) -> Self {
        Self {
            problem: Some(problem.into()),
            ..Self::default()
        }
    }
}

/// What a call would change; `None` where it does not wait, or is about something else.
pub(super) async fn of(
    kernel: &Kernel,
    call: &StoredCall,
) -> Result<Option<ToldChange>, StoreError> {
    let wish = wish_of(&call.action, &call.arguments).filter(|_| call.state == State::Pending);
    let Some(wish) = wish else {
        return Ok(None);
    };
    let bound = kernel.bound_revision(call).await?;
    Ok(Some(match kernel.manifests.foresee(&wish).await? {
        // INVARIANT: what is shown is a difference from the very set that the binding names.
        Ok(foreseen) if bound == Some(foreseen.current.manifests.revision()) => {
            let [from, to] = foreseen.names().map(|name| name.map(str::to_owned));
            let difference = foreseen.difference(&kernel.manifests);
            let mut summary = tally_of(&difference.labels());
            if difference.left_out > 0 {
                summary.push_str(&format!(
                    "; {} pairs of a route and an actor were not looked at",
                    difference.left_out
                ));
            }
            ToldChange {
                from,
                to,
                lines: foreseen.lines(),
                routes: artifacts::told(&difference),
                summary,
                problem: None,
            }
        }
        Ok(_) => ToldChange::none(
            "other manifests are in force than when this was asked for, so that it would be refused; renew it (`actum approvals renew`) and look at it again",
        ),
        Err(why) => ToldChange::none(format!("it cannot be made: {}", why.told())),
    }))
}
