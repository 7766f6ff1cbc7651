//! All that there is at one moment: what is stored, what each kernel has in memory, and what happened outside.

use actum_kernel::calls::State;
use actum_kernel::ledger::Kind;

use crate::table::Table;

/// How many kernels there are.
pub const KERNELS: usize = 2;

/// The arguments of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Words {
    First,
    Other,
}

/// A call as a worker posts it.
#[derive(Debug, Clone, Copy)]
pub struct Post {
    pub words: Words,
    /// Whether it has the one idempotency key that there is.
    pub keyed: bool,
}

impl Post {
    pub fn of(words: Words) -> Self {
        let keyed = false;
        Self { words, keyed }
    }
}

/// What a posted call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A call began; its place.
    New(usize),
    /// Its key is that of this call, which is told again.
    Replay(usize),
    Refused,
}

/// How far a kernel is with a call. It is gone when the kernel is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hand {
    /// It does not have it in hand.
    No,
    /// It is to look whether the call may run.
    Looks,
    /// It saw that the call may run, and is to record that it begins.
    Allowed,
    /// That is recorded, and its handler has done nothing yet.
    Begun,
    /// Its handler did what it was asked, and that is to be recorded.
    Did,
}

/// A call: as it is stored, and what happened to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call {
    pub state: State,
    pub words: Words,
    pub keyed: bool,
    /// Who approved, one bit each.
    pub approvals: u8,
    /// Who rejected.
    pub rejections: u8,
    pub hands: [Hand; KERNELS],
    /// Its time to wait is over.
    pub late: bool,
    /// When it last began, it was allowed to, by what was durable then.
    pub founded: bool,
    /// How often it had its effect; 2 is as bad as more.
    pub effects: u8,
    /// An effect came although the call had not been allowed to begin.
    pub unfounded_effect: bool,
    /// How many records of an end it has.
    pub ends: u8,
    /// How often a person said what became of it.
    pub settled: u8,
    /// How often it was resumed.
    pub resumed: u8,
}

impl Call {
    /// One that the first of its records takes to a state.
    pub fn new(state: State, post: Post) -> Self {
        Self {
            state,
            words: post.words,
            keyed: post.keyed,
            approvals: 0,
            rejections: 0,
            hands: [Hand::No; KERNELS],
            late: false,
            founded: false,
            effects: 0,
            unfounded_effect: false,
            ends: 0,
            settled: 0,
            resumed: 0,
        }
    }

    /// The transaction of one record: the step that the table has from where the call is, or nothing.
    pub fn step(&mut self, table: &Table, by: Kind) -> bool {
        let Some(to) = table.after(Some(self.state), by) else {
            return false;
        };
        self.state = to;
        match by {
            Kind::CallSettledSucceeded | Kind::CallSettledFailed => {
                self.settled = self.settled.saturating_add(1).min(2);
            }
            _ if is_finished(to) => self.ends = self.ends.saturating_add(1).min(2),
            _ => {}
        }
        true
    }

    /// Whether its handler may be at work in a kernel.
    pub fn is_in_hand(&self) -> bool {
        let runs = |hand: &Hand| matches!(hand, Hand::Begun | Hand::Did);
        self.hands.iter().any(runs)
    }
}

/// Whether nobody but a person has anything more to do with a call.
pub fn is_finished(state: State) -> bool {
    state == State::OutcomeUnknown || state.is_final()
}

/// Everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    pub calls: Vec<Call>,
    /// The answer to each post that was delivered.
    pub answers: Vec<Option<Answer>>,
    /// Which kernels run.
    pub up: [bool; KERNELS],
    /// How often a kernel may still be killed.
    pub kills: u8,
    /// The task was taken back.
    pub revoked: bool,
}

impl World {
    /// Before anything was posted.
    pub fn new(posts: usize, kills: u8) -> Self {
        Self {
            calls: Vec::new(),
            answers: vec![None; posts],
            up: [true; KERNELS],
            kills,
            revoked: false,
        }
    }
}
