//! `plan.propose`

use actum::schema::ArgumentFault;
use actum::{ActionError, Call, action};

use crate::handle::KernelHandle;
use crate::plan::{self, Carried, Plan};

/// Carries out a plan that was approved as a whole. Waits for approval, since its steps may be anything that the grant
/// has; the approval is worth no more than one of each step by itself would be.
#[action(
    id = "plan.propose",
    title = "Propose a plan",
    description = "Propose a plan of one or more steps, each a call of another of your tools; once it is approved as a whole, the kernel makes the calls in their order, until one does not succeed.",
    approval_required,
    destructive,
    open_world,
    check = could_be_carried_out
)]
pub async fn propose(
    kernel: &KernelHandle,
    call: &Call,
    plan: Plan,
) -> Result<Carried, ActionError> {
    Ok(plan::carry_out(&kernel.kernel()?, call, plan).await?)
}

async fn could_be_carried_out(
    kernel: &KernelHandle,
    call: &Call,
    plan: &Plan,
) -> Result<Vec<ArgumentFault>, ActionError> {
    Ok(plan::faults(&kernel.kernel()?, call, plan).await?)
}

/// The id of this action, as its annotation has it.
pub(crate) fn id() -> &'static str {
    __action_propose.id()
}
