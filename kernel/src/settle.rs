//! Calls of unknown outcome, which a person settles: somebody looked where the effect would be, and says whether it is
//! there. Nothing runs by it.

use actum::grant::Principal;
use serde_json::json;
use ulid::Ulid;

use crate::Kernel;
use crate::approval::Approver;
use crate::calls::State;
use crate::ledger::{Entry, Kind};
use crate::store::{StoreError, StoredCall};

/// What somebody found out of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Finding {
    /// It did what it was asked.
    Succeeded,
    /// It did not.
    Failed,
}

/// Why a finding does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsettled {
    /// There is no such call.
    NoCall,
    /// Its outcome is not unknown: it stands here.
    Known(State),
}

impl Kernel {
    /// Settles a call of unknown outcome. Inside, where it stands then, or why the finding does not count.
    ///
    /// Whoever may decide may settle, also a call of a task of their own: settling gives leave to nothing, it says what
    /// was, and the one whose task it is often is the one who knows. The record says that it was theirs.
    pub(crate) async fn settle(
        &self,
        by: &Approver,
        id: Ulid,
        finding: Finding,
        reason: &str,
    ) -> Result<Result<State, Unsettled>, StoreError> {
        let Some(call) = self.store.call(id).await? else {
            return Ok(Err(Unsettled::NoCall));
        };
        let (kind, state) = match finding {
            Finding::Succeeded => (Kind::CallSettledSucceeded, State::Succeeded),
            Finding::Failed => (Kind::CallSettledFailed, State::Failed),
        };
        let body = json!({
            "call": id, "task": call.task_id, "action": call.action, "by": by.id,
            "own_task": self.is_of_own_task(by, &call).await?, "was": call.reason, "reason": reason,
        });
        let entry = Entry {
            at: self.now(),
            kind,
            body,
        };
        let unknown = State::OutcomeUnknown;
        if self.store.step(id, unknown, reason, entry).await? {
            return Ok(Ok(state));
        }
        let now = self.store.call(id).await?;
        Ok(Err(now.map_or(Unsettled::NoCall, |call| {
            Unsettled::Known(call.state)
        })))
    }

    /// Whether the task of a call is somebody's own, be it over or not.
    async fn is_of_own_task(&self, by: &Approver, call: &StoredCall) -> Result<bool, StoreError> {
        let task = self.store.task(call.task_id).await?;
        Ok(
            task.is_some_and(|task| match &task.grant.as_issued().principal {
                Principal::Known(id) => by.principals.contains(id),
                Principal::Anonymous(_) => false,
            }),
        )
    }
}
