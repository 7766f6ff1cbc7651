//! `worker.commission`, `worker.report_result`, `worker.failed`

pub mod commission;
pub mod report;

/// The id of the action that commissions tasks.
pub(crate) fn commission_id() -> &'static str {
    commission::__action_commission.id()
}

/// Whether calls of an action end their task.
pub(crate) fn ends_a_task(id: &str) -> bool {
    [report::__action_report_result, report::__action_failed]
        .iter()
        .any(|action| action.id() == id)
}
