//! Numbers of this kernel for an operator's monitoring, in the OpenMetrics text format.
//!
//! INVARIANT: each label has a bounded set of values, whatever a client sends: routes are those of the router, an action is
//! one that is known or [`UNKNOWN`]. No label has anything of a task, a principal or arguments.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use actum::{ActionCatalog, Digest};
use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use crate::store::Counts;

/// The media type of [`Metrics::render`].
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What stands for every action that is not known and every path that is no route: a client makes these up.
pub(crate) const UNKNOWN: &str = "unknown";

/// Upper ends of the buckets of times, in seconds.
const SECONDS: [f64; 13] = [
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 20.0,
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: String,
    route: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    action: String,
    answer: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refused {
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Handled {
    action: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Action {
    action: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TakenIn {
    connector: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Decision {
    decision: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct State {
    state: &'static str,
}

/// Times by their labels; what makes an empty one is a function, so that this type has a name.
type Times<L> = Family<L, Histogram, fn() -> Histogram>;

/// What is counted and timed.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    request_times: Times<Route>,
    under_way: Gauge,
    calls: Family<Called, Counter>,
    refusals: Family<Refused, Counter>,
    handlers: Family<Handled, Counter>,
    handler_times: Times<Action>,
    events: Family<TakenIn, Counter>,
    decisions: Family<Decision, Counter>,
    stored: Family<State, Gauge>,
    tasks: Gauge,
    records: Gauge,
    store_up: Gauge,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

fn times() -> Histogram {
    Histogram::new(SECONDS)
}

impl Metrics {
    /// Nothing counted yet.
    pub(crate) fn new(since: Timestamp, catalog: Digest) -> Self {
        let metrics = Self {
            registry: Registry::with_prefix("actum"),
            requests: Family::default(),
            request_times: Family::new_with_constructor(times),
            under_way: Gauge::default(),
            calls: Family::default(),
            refusals: Family::default(),
            handlers: Family::default(),
            handler_times: Family::new_with_constructor(times),
            events: Family::default(),
            decisions: Family::default(),
            stored: Family::default(),
            tasks: Gauge::default(),
            records: Gauge::default(),
            store_up: Gauge::default(),
        };
        metrics.registered(since, catalog)
    }

    fn registered(mut self, since: Timestamp, catalog: Digest) -> Self {
        let to = &mut self.registry;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let info = vec![("version", version), ("catalog", catalog.to_string())];
        to.register("kernel", "What runs here", Info::new(info));
        let started = Gauge::<f64, AtomicU64>::default();
        started.set(since.as_duration().as_secs_f64());
        let help = "When this kernel started, in seconds since 1970";
        to.register_with_unit("start_time", help, Unit::Seconds, started);

        let help = "Requests, by what they were answered with";
        to.register("http_requests", help, self.requests.clone());
        let help = "Time from a request to its answer";
        let times = self.request_times.clone();
        to.register_with_unit("http_request_duration", help, Unit::Seconds, times);
        let help = "Requests that hold one of the places of limits.concurrent_requests";
        to.register("http_requests_under_way", help, self.under_way.clone());

        let help = "Calls, by what their worker was answered";
        to.register("calls", help, self.calls.clone());
        let help = "Refused calls, by the reason on record";
        to.register("refusals", help, self.refusals.clone());
        let help = "Handlers that ended, by how";
        to.register("handlers", help, self.handlers.clone());
        let help = "Time that handlers took";
        let times = self.handler_times.clone();
        to.register_with_unit("handler_duration", help, Unit::Seconds, times);
        let help = "Events of connectors, by what they led to";
        to.register("events", help, self.events.clone());
        let help = "Decisions on calls that wait for approval";
        to.register("decisions", help, self.decisions.clone());

        let help = "Stored calls that are not over, and those of unknown outcome";
        to.register("stored_calls", help, self.stored.clone());
        let help = "Tasks issued since the store was made";
        to.register("stored_tasks", help, self.tasks.clone());
        let help = "Records in the ledger";
        to.register("ledger_records", help, self.records.clone());
        let help =
            "Whether the store answered; where it is 0, what is stored is as of the last answer";
        to.register("store_up", help, self.store_up.clone());
        self
    }

    /// A request was answered.
    pub(crate) fn request(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        let labels = Route { method, route };
        let times = self.request_times.get_or_create(&labels);
        times.observe(took.as_secs_f64());
        let Route { method, route } = labels;
        let labels = Answered {
            method,
            route,
            status,
        };
        self.requests.get_or_create(&labels).inc();
    }

    /// A call was answered.
    pub(crate) fn call(&self, catalog: &ActionCatalog, action: &str, answer: &'static str) {
        let action = match catalog.is_known(action) {
            true => action,
            false => UNKNOWN,
        }
        .to_owned();
        self.calls.get_or_create(&Called { action, answer }).inc();
    }

    /// A call was refused, for a reason of the kernel's own words.
    pub(crate) fn refusal(&self, reason: &str) {
        let reason = reason.to_owned();
        self.refusals.get_or_create(&Refused { reason }).inc();
    }

    /// A handler ended.
    pub(crate) fn handler(&self, action: &str, outcome: &'static str, took: Duration) {
        let action = action.to_owned();
        let labels = Action { action };
        let times = self.handler_times.get_or_create(&labels);
        times.observe(took.as_secs_f64());
        let Action { action } = labels;
        let labels = Handled { action, outcome };
        self.handlers.get_or_create(&labels).inc();
    }

    /// An event was taken in, or turned away.
    pub(crate) fn event(&self, connector: &str, outcome: &'static str) {
        let connector = connector.to_owned();
        let labels = TakenIn { connector, outcome };
        self.events.get_or_create(&labels).inc();
    }

    /// Somebody decided on a call, or nobody did in time.
    pub(crate) fn decision(&self, decision: &'static str) {
        self.decisions.get_or_create(&Decision { decision }).inc();
    }

    /// All of it as text, with what the store says now; `None` where it does not answer.
    pub(crate) fn render(&self, stored: Option<&Counts>, under_way: usize) -> Option<String> {
        self.under_way
            .set(i64::try_from(under_way).unwrap_or(i64::MAX));
        self.store_up.set(i64::from(stored.is_some()));
        if let Some(counts) = stored {
            self.tasks.set(counts.tasks);
            self.records.set(counts.records);
            for (state, count) in [
                ("pending", counts.pending),
                ("approved", counts.approved),
                ("running", counts.running),
                ("outcome_unknown", counts.unknown),
            ] {
                self.stored.get_or_create(&State { state }).set(count);
            }
        }
        let mut text = String::new();
        encode(&mut text, &self.registry).ok()?;
        Some(text)
    }
}
