//! What each move does, and which may come next.

use actum_kernel::calls::MOST_RESUMPTIONS;
use actum_kernel::ledger::Kind;
use stateright::{Model, Property};

use crate::promises;
use crate::rules::{Ending, Move, Rules};
use crate::world::{Answer, Call, Hand, KERNELS, Post, Words, World};

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
            Move::Cancel { call } => drop(world.calls[call].step(table, Kind::CallCancelled)),
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
            Move::Resume { call, kernel } | Move::ResumeWrongly { call, kernel } => {
                let call = &mut world.calls[call];
                if call.step(table, Kind::CallResumed) {
                    call.resumed += 1;
                    call.hands[kernel] = Hand::Begun;
                }
            }
            Move::Settle { call, succeeded } => {
                let by = match succeeded {
                    true => Kind::CallSettledSucceeded,
                    false => Kind::CallSettledFailed,
                };
                world.calls[call].step(table, by);
            }
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        promises::all()
    }
}

impl Rules {
    /// What people, and its worker, may do with a call: click on whatever is on their screens, as often as they like, while it waits.
    fn decisions(&self, world: &World, place: usize, call: &Call, moves: &mut Vec<Move>) {
        if self.may_cancel && self.table.has(call.state, Kind::CallCancelled) {
            moves.push(Move::Cancel { call: place });
        }
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
        let is_in_hand = call.is_in_hand();
        let resumes = (self.is_idempotent || self.resumes_all)
            && u32::from(call.resumed) < MOST_RESUMPTIONS.min(2)
            && self.table.has(call.state, Kind::CallResumed);
        if resumes {
            let free = |kernel: &usize| {
                world.up[*kernel] && !matches!(call.hands[*kernel], Hand::Begun | Hand::Did)
            };
            moves.extend((0..KERNELS).filter(free).map(|kernel| match is_in_hand {
                true => Move::ResumeWrongly {
                    call: place,
                    kernel,
                },
                false => Move::Resume {
                    call: place,
                    kernel,
                },
            }));
        } else if self.table.has(call.state, Kind::CallOutcomeUnknown) {
            moves.push(match is_in_hand {
                true => Move::MarkWrongly { call: place },
                false => Move::Mark { call: place },
            });
        }
        for (succeeded, by) in [
            (true, Kind::CallSettledSucceeded),
            (false, Kind::CallSettledFailed),
        ] {
            if self.may_settle && self.table.has(call.state, by) {
                moves.push(Move::Settle {
                    call: place,
                    succeeded,
                });
            }
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
