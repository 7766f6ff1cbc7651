//! What there is to count, suite by suite.

use std::collections::BTreeMap;

use actum::ActionCatalog;

use super::Fault;
use super::burden::{Burden, burden_of};
use super::data::{Benchmark, InjectionTask, Sinks, Suite, UserTask};
use super::grant::{Strength, grant_of};
use super::judge::Reach;
use super::tools::catalog_of;

/// A user task with an injection task of its suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// The suite.
    pub suite: String,
    /// The user task.
    pub user_task: String,
    /// The injection task.
    pub injection_task: String,
}

/// The pairs that grants of one strength leave possible.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Possible {
    /// Those whose injection can still make every one of its calls.
    pub whole: Vec<Pair>,
    /// Those whose injection can still make a call that changes something.
    pub some_effect: Vec<Pair>,
}

/// The counts of one suite, or of several together.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// The suite's name.
    pub name: String,
    /// All pairs.
    pub pairs: usize,
    /// Those whose injection has calls recorded, and so can be judged.
    pub judged: usize,
    /// Those whose injection has a call that changes something.
    pub with_effect: usize,
    /// What is still possible.
    pub possible: BTreeMap<Strength, Possible>,
    /// The injection tasks without calls, with the suite of each.
    pub without_calls: Vec<(String, String)>,
    /// How many user tasks there are.
    pub user_tasks: usize,
    /// How many tools the grants show, summed over user tasks. It is the same in each strength: a
    /// granted tool is one of the task's own calls, and those must all be shown.
    pub tools_shown: usize,
    /// How many there are in the suite, summed over user tasks.
    pub tools_there: usize,
    /// What the owner has to say.
    pub burden: Burden,
    /// How many user tasks have something that the owner has to say.
    pub burdened_tasks: usize,
}

/// Counts every suite of a benchmark, in the order of their names.
///
/// # Errors
/// All that is wrong with the data, and every call of a user task's own that does not pass.
pub fn measure(benchmark: &Benchmark, sinks: &Sinks) -> Result<Vec<Tally>, Vec<Fault>> {
    let mut tallies = Vec::new();
    let mut faults = Vec::new();
    for (name, suite) in &benchmark.suites {
        match catalog_of(name, suite, sinks) {
            Ok(catalog) => {
                let mut tally = Tally::of(name, suite, sinks);
                tally.judge(suite, &catalog, sinks, &mut faults);
                tallies.push(tally);
            }
            Err(more) => faults.extend(more),
        }
    }
    if faults.is_empty() {
        Ok(tallies)
    } else {
        Err(faults)
    }
}

impl Tally {
    /// What can be counted without a grant.
    fn of(name: &str, suite: &Suite, sinks: &Sinks) -> Self {
        let tasks = suite.user_tasks.len();
        let pairs_with = |what: &dyn Fn(&InjectionTask) -> bool| {
            tasks * suite.injection_tasks.iter().filter(|one| what(one)).count()
        };
        let has_calls = |one: &InjectionTask| !one.ground_truth.is_empty();
        let has_effect =
            |one: &InjectionTask| one.ground_truth.iter().any(|call| sinks.has_effect(call));
        let without_calls = suite.injection_tasks.iter().filter(|one| !has_calls(one));
        let mut tally = Self {
            name: name.to_owned(),
            pairs: pairs_with(&|_| true),
            judged: pairs_with(&has_calls),
            with_effect: pairs_with(&has_effect),
            without_calls: without_calls
                .map(|one| (name.to_owned(), one.id.clone()))
                .collect(),
            user_tasks: tasks,
            tools_there: tasks * suite.tools.len(),
            ..Self::default()
        };
        for task in &suite.user_tasks {
            let burden = burden_of(task, sinks);
            tally.burden.values += burden.values;
            tally.burden.unsaid += burden.unsaid;
            tally.burdened_tasks += usize::from(burden.unsaid > 0);
        }
        tally
    }

    /// Makes every grant, and holds the tasks' own calls and the injections' against it.
    fn judge(
        &mut self,
        suite: &Suite,
        catalog: &ActionCatalog,
        sinks: &Sinks,
        faults: &mut Vec<Fault>,
    ) {
        for task in &suite.user_tasks {
            for strength in Strength::ALL {
                let grant = match grant_of(task, sinks, strength) {
                    Ok(grant) => grant,
                    Err(cause) => {
                        faults.push(Fault::Grant {
                            suite: self.name.clone(),
                            task: task.id.clone(),
                            cause,
                        });
                        continue;
                    }
                };
                let reach = Reach::of(&grant, catalog);
                if strength == Strength::Names {
                    self.tools_shown += reach.tools_shown();
                }
                faults.extend(self.own_calls_refused(task, &reach, strength));
                let possible = self.possible.entry(strength).or_default();
                for injection in &suite.injection_tasks {
                    let fate = reach.fate_of(injection, sinks);
                    let pair = || Pair {
                        suite: self.name.clone(),
                        user_task: task.id.clone(),
                        injection_task: injection.id.clone(),
                    };
                    possible.whole.extend(fate.whole.then(pair));
                    possible.some_effect.extend(fate.some_effect.then(pair));
                }
            }
        }
    }

    fn own_calls_refused(
        &self,
        task: &UserTask,
        reach: &Reach<'_>,
        strength: Strength,
    ) -> impl Iterator<Item = Fault> {
        task.ground_truth.iter().filter_map(move |call| {
            let reason = reach.serves(call).err()?;
            Some(Fault::OwnCall {
                suite: self.name.clone(),
                task: task.id.clone(),
                strength,
                tool: call.tool.clone(),
                reason,
            })
        })
    }

    /// What grants of one strength leave possible.
    #[must_use]
    pub fn possible(&self, strength: Strength) -> Possible {
        self.possible.get(&strength).cloned().unwrap_or_default()
    }

    /// All of them together.
    #[must_use]
    pub fn together(all: &[Self]) -> Self {
        let mut sum = Self {
            name: "all".to_owned(),
            ..Self::default()
        };
        for one in all {
            sum.pairs += one.pairs;
            sum.judged += one.judged;
            sum.with_effect += one.with_effect;
            for (strength, possible) in &one.possible {
                let so_far = sum.possible.entry(*strength).or_default();
                so_far.whole.extend_from_slice(&possible.whole);
                so_far.some_effect.extend_from_slice(&possible.some_effect);
            }
            sum.without_calls.extend_from_slice(&one.without_calls);
            sum.user_tasks += one.user_tasks;
            sum.tools_shown += one.tools_shown;
            sum.tools_there += one.tools_there;
            sum.burden.values += one.burden.values;
            sum.burden.unsaid += one.burden.unsaid;
            sum.burdened_tasks += one.burdened_tasks;
        }
        sum
    }
}
