//! What may happen next, what it does, and what must always hold.

use actum_kernel::calls::State;
use actum_kernel::ledger::Kind;
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::table::Table;
use crate::world::{Answer, Call, Hand, KERNELS, Post, Words, World, is_finished};

pub const ONCE: &str = "a call has its effect at most once";
pub const FOUNDED: &str = "no effect without a durable decision before it";
pub const NOTHING_OF_THE_REFUSED: &str = "what was rejected, expired or refused has no effect";
pub const ENDS_ONCE: &str = "a finished call has one record of its end, and another has none";
pub const NOT_STUCK: &str = "when nothing is left to do, every call is finished";
pub const KEY_RUNS_ONCE: &str = "a key is one call with one set of arguments, whoever repeats it";

/// What the world is like.
#[derive(Debug, Clone)]
pub struct Rules {
    pub table: Table,
    /// What workers post, each at any time, at any kernel.
    pub posts: Vec<Post>,
    /// How many have to approve; `None` for an action that needs no approval.
    pub quorum: Option<u32>,
    pub may_edit: bool,
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
            kills: 2,
            looks_at_the_task: true,
            looks_at_the_key: true,
        }
    }

    /// The record of a new call.
    fn beginning(&self) -> Kind {
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
    fn kind(self) -> Kind {
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
}

impl Move {
    /// Whether it happens by itself. Nobody has to post, to click, to kill; what is left to do is the rest.
    fn is_due(self) -> bool {
        !matches!(
            self,
            Self::Deliver { .. }
                | Self::Approve { .. }
                | Self::Reject { .. }
                | Self::Edit { .. }
                | Self::Revoke
                | Self::Kill { .. }
                | Self::MarkWrongly { .. }
        )
    }
}

/// Every move uses up what cannot come back (a post, a click, a kill, a step), so that no path has a circle, and
/// `NOT_STUCK`, which is asked of every state, says that every path ends well.
impl Model for Rules {
    type State = World;
    type Action = Move;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(self.posts.len(), self.kills)]
    }

    fn actions(&self, world: &World, moves: &mut Vec<Move>) {
        let up = || (0..KERNELS).filter(|kernel| world.up[*kernel]);
        for kernel in 0..KERNELS {
            match world.up[kernel] {
                true if world.kills > 0 => moves.push(Move::Kill { kernel }),
                true => {}
                false => moves.push(Move::Restart { kernel }),
            }
        }
        if up().next().is_none() {
            return;
        }
        let posts = (0..self.posts.len()).filter(|post| world.answers[*post].is_none());
        moves.extend(posts.flat_map(|post| up().map(move |kernel| Move::Deliver { post, kernel })));
        if !world.calls.is_empty() && !world.revoked {
            moves.push(Move::Revoke);
        }
        if self.quorum.is_some() && world.calls.iter().any(|call| !call.late) {
            moves.push(Move::PassTime);
        }
        for (place, call) in world.calls.iter().enumerate() {
            self.decisions(world, place, call, moves);
            self.work(world, place, call, moves);
        }
    }

    fn next_state(&self, before: &World, made: Move) -> Option<World> {
        let mut world = before.clone();
        let table = &self.table;
        match made {
            Move::Deliver { post, kernel } => {
                world.answers[post] = Some(self.deliver(&mut world, post, kernel))
            }
            Move::Approve {
                call,
                approver,
                kernel,
            } => {
                let call = &mut world.calls[call];
                call.approvals |= 1 << approver;
                let enough = call.approvals.count_ones() >= self.quorum.unwrap_or_default();
                let by = if enough {
                    Kind::CallApproved
                } else {
                    Kind::CallEndorsed
                };
                if call.step(table, by) {
                    call.hands[kernel] = Hand::Looks;
                }
            }
            Move::Reject { call, approver } => {
                let call = &mut world.calls[call];
                call.rejections |= 1 << approver;
                call.step(table, Kind::CallRejected);
            }
            Move::Edit { call } => {
                world.calls[call].step(table, Kind::CallRejected);
                let state = table.after(None, Kind::CallPending)?;
                world.calls.push(Call::new(state, Post::of(Words::Other)));
            }
            Move::Revoke => world.revoked = true,
            Move::Kill { kernel } => {
                world.up[kernel] = false;
                world.kills -= 1;
                world
                    .calls
                    .iter_mut()
                    .for_each(|call| call.hands[kernel] = Hand::No);
            }
            Move::Restart { kernel } => {
                world.up[kernel] = true;
                // What is approved, or may begin for whatever other reason the table has.
                let may_begin = |call: &&mut Call| table.has(call.state, Kind::CallStarted);
                world
                    .calls
                    .iter_mut()
                    .filter(may_begin)
                    .for_each(|call| call.hands[kernel] = Hand::Looks);
            }
            Move::PassTime => world.calls.iter_mut().for_each(|call| call.late = true),
            Move::Expire { call } => drop(world.calls[call].step(table, Kind::CallExpired)),
            Move::Look { call, kernel } => {
                let may_run = !world.revoked && !world.calls[call].late;
                let call = &mut world.calls[call];
                call.hands[kernel] = if may_run { Hand::Allowed } else { Hand::No };
                if !may_run {
                    call.step(table, Kind::CallRefused);
                }
            }
            Move::Start { call, kernel } => self.start(&mut world, call, kernel),
            Move::Act { call, kernel } => {
                let call = &mut world.calls[call];
                call.hands[kernel] = Hand::Did;
                call.effects = call.effects.saturating_add(1).min(2);
                call.unfounded_effect |= !call.founded;
            }
            Move::End {
                call,
                kernel,
                ending,
            } => {
                let call = &mut world.calls[call];
                call.hands[kernel] = Hand::No;
                // It may have been marked meanwhile, and then stays as it was marked.
                call.step(table, ending.kind());
            }
            Move::Mark { call } | Move::MarkWrongly { call } => {
                world.calls[call].step(table, Kind::CallOutcomeUnknown);
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONCE, |_: &Self, world: &World| {
                world.calls.iter().all(|call| call.effects <= 1)
            }),
            Property::always(FOUNDED, |_: &Self, world: &World| {
                !world.calls.iter().any(|call| call.unfounded_effect)
            }),
            Property::always(NOTHING_OF_THE_REFUSED, |_: &Self, world: &World| {
                let refused = |call: &&Call| {
                    matches!(
                        call.state,
                        State::Rejected | State::Expired | State::Refused
                    )
                };
                world
                    .calls
                    .iter()
                    .filter(refused)
                    .all(|call| call.effects == 0)
            }),
            Property::always(ENDS_ONCE, |_: &Self, world: &World| {
                let mut calls = world.calls.iter();
                calls.all(|call| call.ends == u8::from(is_finished(call.state)))
            }),
            Property::always(NOT_STUCK, |rules: &Self, world: &World| {
                let mut moves = Vec::new();
                rules.actions(world, &mut moves);
                let is_idle = !moves.iter().any(|made| made.is_due());
                !is_idle || world.calls.iter().all(|call| is_finished(call.state))
            }),
            Property::always(KEY_RUNS_ONCE, |rules: &Self, world: &World| {
                let answers = rules.posts.iter().zip(&world.answers);
                let told = |place: &usize, post: &Post| world.calls[*place].words == post.words;
                world.calls.iter().filter(|call| call.keyed).count() <= 1
                    && answers.into_iter().all(|(post, answer)| match answer {
                        Some(Answer::New(place) | Answer::Replay(place)) => told(place, post),
                        Some(Answer::Refused) | None => true,
                    })
            }),
            // That the world is one in which all of this can happen.
            Property::sometimes(
                "a call succeeds after a restart",
                |_: &Self, world: &World| {
                    world.kills == 0
                        && world
                            .calls
                            .iter()
                            .any(|call| call.state == State::Succeeded)
                },
            ),
            Property::sometimes(
                "an effect was made, and its outcome is not known",
                |_: &Self, world: &World| {
                    let mut calls = world.calls.iter();
                    calls.any(|call| call.state == State::OutcomeUnknown && call.effects == 1)
                },
            ),
        ]
    }
}

impl Rules {
    /// What people may do with a call: click on whatever is on their screens, as often as they like, while it waits.
    fn decisions(&self, world: &World, place: usize, call: &Call, moves: &mut Vec<Move>) {
        let Some(quorum) = self.quorum else { return };
        let decided = call.approvals | call.rejections;
        // The owner's second click finds what became of the first: only the first of each counts.
        // One more than has to approve, so that one who rejects keeps nobody from it.
        let approvers = u8::try_from(quorum).unwrap_or(u8::MAX);
        for approver in (0..=approvers).filter(|approver| decided & (1 << approver) == 0) {
            if self.table.has(call.state, Kind::CallApproved) {
                let kernels = (0..KERNELS).filter(|kernel| world.up[*kernel]);
                let approve = |kernel| Move::Approve {
                    call: place,
                    approver,
                    kernel,
                };
                moves.extend(kernels.map(approve));
            }
            if self.table.has(call.state, Kind::CallRejected) {
                moves.push(Move::Reject {
                    call: place,
                    approver,
                });
            }
        }
        let is_first = world.calls.len() == self.posts.len();
        if self.may_edit
            && is_first
            && self.table.has(call.state, Kind::CallRejected)
            && !world.revoked
        {
            moves.push(Move::Edit { call: place });
        }
    }

    /// What kernels do with a call.
    fn work(&self, world: &World, place: usize, call: &Call, moves: &mut Vec<Move>) {
        if call.late && self.table.has(call.state, Kind::CallExpired) {
            moves.push(Move::Expire { call: place });
        }
        if self.table.has(call.state, Kind::CallOutcomeUnknown) {
            moves.push(match call.is_in_hand() {
                true => Move::MarkWrongly { call: place },
                false => Move::Mark { call: place },
            });
        }
        for kernel in (0..KERNELS).filter(|kernel| world.up[*kernel]) {
            let end = |ending| Move::End {
                call: place,
                kernel,
                ending,
            };
            match call.hands[kernel] {
                Hand::No => {}
                Hand::Looks => moves.push(Move::Look {
                    call: place,
                    kernel,
                }),
                Hand::Allowed => moves.push(Move::Start {
                    call: place,
                    kernel,
                }),
                Hand::Begun => {
                    moves.push(Move::Act {
                        call: place,
                        kernel,
                    });
                    moves.extend([Ending::Failed, Ending::Unknown].map(end));
                }
                Hand::Did => moves.extend([Ending::Succeeded, Ending::Unknown].map(end)),
            }
        }
    }

    fn deliver(&self, world: &mut World, post: usize, kernel: usize) -> Answer {
        let post = self.posts[post];
        let same_key = |call: &&Call| post.keyed && call.keyed && self.looks_at_the_key;
        let first = world.calls.iter().position(|call| same_key(&call));
        match first {
            Some(first) if world.calls[first].words == post.words => return Answer::Replay(first),
            Some(_) => return Answer::Refused,
            None => {}
        }
        let state = self.table.after(None, self.beginning());
        let Some(state) = state.filter(|_| !world.revoked) else {
            return Answer::Refused;
        };
        let mut call = Call::new(state, post);
        if self.quorum.is_none() {
            call.founded = true;
            call.hands[kernel] = Hand::Begun;
        }
        world.calls.push(call);
        Answer::New(world.calls.len() - 1)
    }

    /// The transaction of a start: the task is not taken back, and the table has a step from where the call is.
    fn start(&self, world: &mut World, call: usize, kernel: usize) {
        let revoked = world.revoked;
        let call = &mut world.calls[call];
        call.hands[kernel] = Hand::No;
        if revoked && self.looks_at_the_task {
            // The kernel looks again, and refuses it for that.
            call.hands[kernel] = Hand::Looks;
            return;
        }
        let enough = call.approvals.count_ones() >= self.quorum.unwrap_or_default();
        let founded = enough && call.rejections == 0 && !revoked;
        if call.step(&self.table, Kind::CallStarted) {
            call.founded = founded;
            call.hands[kernel] = Hand::Begun;
        }
    }
}

/// How a promise is broken, in the fewest moves; `None` if it is kept.
pub fn breach(rules: Rules, promise: &'static str) -> Option<String> {
    let found = HasDiscoveries::AnyOf([promise].into());
    let checker = rules.checker().finish_when(found).spawn_bfs().join();
    let moves = checker.discovery(promise)?.into_actions();
    Some(format!("{moves:?}"))
}
