//! What the world is like, and what may happen in it.

use actum_kernel::ledger::Kind;

use crate::table::Table;
use crate::world::Post;

/// What the world is like.
#[derive(Debug, Clone)]
pub struct Rules {
    pub table: Table,
    /// What workers post, each at any time, at any kernel.
    pub posts: Vec<Post>,
    /// How many have to approve; `None` for an action that needs no approval.
    pub quorum: Option<u32>,
    pub may_edit: bool,
    /// Workers take back what waits.
    pub may_cancel: bool,
    /// The handler is declared idempotent: its calls are resumed.
    pub is_idempotent: bool,
    /// People settle what nobody knows.
    pub may_settle: bool,
    /// Calls are resumed whatever their handler is.
    pub resumes_all: bool,
    pub kills: u8,
    /// The transaction of a start looks whether the task was taken back.
    pub looks_at_the_task: bool,
    /// The transaction of a new call looks for another with its key.
    pub looks_at_the_key: bool,
}

impl Rules {
    /// The kernel's, with this table.
    pub fn of(table: Table) -> Self {
        Self {
            table,
            posts: Vec::new(),
            quorum: None,
            may_edit: false,
            may_cancel: false,
            is_idempotent: false,
            may_settle: false,
            resumes_all: false,
            kills: 2,
            looks_at_the_task: true,
            looks_at_the_key: true,
        }
    }

    /// The record of a new call.
    pub fn beginning(&self) -> Kind {
        match self.quorum {
            Some(_) => Kind::CallPending,
            None => Kind::CallStarted,
        }
    }
}

/// How a handler ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Succeeded,
    Failed,
    /// It was stopped at its deadline, panicked, or said so.
    Unknown,
}

impl Ending {
    pub fn kind(self) -> Kind {
        match self {
            Self::Succeeded => Kind::CallSucceeded,
            Self::Failed => Kind::CallFailed,
            Self::Unknown => Kind::CallOutcomeUnknown,
        }
    }
}

/// Something that happens. Each is one transaction, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A worker's post is delivered to a kernel.
    Deliver {
        post: usize,
        kernel: usize,
    },
    /// Somebody clicks.
    Approve {
        call: usize,
        approver: u8,
        kernel: usize,
    },
    Reject {
        call: usize,
        approver: u8,
    },
    Edit {
        call: usize,
    },
    /// A worker takes back what it posted.
    Cancel {
        call: usize,
    },
    Revoke,
    Kill {
        kernel: usize,
    },
    /// The minute comes from which on nothing waits any more of what waited before.
    PassTime,
    /// It is seen that a call's time is over.
    Expire {
        call: usize,
    },
    /// A kernel looks whether a call may run: the gate.
    Look {
        call: usize,
        kernel: usize,
    },
    /// It records that the call begins.
    Start {
        call: usize,
        kernel: usize,
    },
    /// The handler does what it was asked.
    Act {
        call: usize,
        kernel: usize,
    },
    /// It has ended, and that is recorded.
    End {
        call: usize,
        kernel: usize,
        ending: Ending,
    },
    Restart {
        kernel: usize,
    },
    /// A call that nobody has in hand is marked.
    Mark {
        call: usize,
    },
    /// A call is marked whose kernel was silent for too long, and lives.
    MarkWrongly {
        call: usize,
    },
    /// A call that nobody has in hand is run again.
    Resume {
        call: usize,
        kernel: usize,
    },
    /// A call is run again whose kernel was silent for too long, and lives.
    ResumeWrongly {
        call: usize,
        kernel: usize,
    },
    /// A person says what became of a call.
    Settle {
        call: usize,
        succeeded: bool,
    },
}

impl Move {
    /// Whether it happens by itself. Nobody has to post, to click, to kill; what is left to do is the rest.
    pub fn is_due(self) -> bool {
        !matches!(
            self,
            Self::Deliver { .. }
                | Self::Approve { .. }
                | Self::Reject { .. }
                | Self::Edit { .. }
                | Self::Cancel { .. }
                | Self::Revoke
                | Self::Kill { .. }
                | Self::MarkWrongly { .. }
                | Self::ResumeWrongly { .. }
                | Self::Settle { .. }
        )
    }
}
