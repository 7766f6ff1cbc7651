//! The registry: the annotated handlers that are linked in, checked, as one value.
//!
//! INVARIANT: this is the only reader of inventory. Everything else is handed a [`Registry`].

mod admitted;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;

use serde_json::Value;

use crate::action::{
    Action, ActionError, Declaration, DeclarationKind, HandlerContext, Place, Prepared, Resources,
};
use crate::catalog::{ActionCatalog, EgressDeclaration};
use crate::descriptor::ToolDescriptor;
use crate::gate::Permit;
use crate::id::{ActionId, ToolName};
use crate::redact::{Reach, RedactionPath, Redactions, Watch, reach};
use crate::requirement::{Class, Requirements, not_a_required_text};
use crate::resource::UriTemplate;
use crate::schema::{ArgumentFault, CompiledSchema, without_fractions};
use crate::upstream::{UpstreamAction, UpstreamFault};

use admitted::Read;
pub use admitted::{Admitted, ShownArguments};

/// Annotated handlers, with their checks compiled.
#[derive(Debug)]
pub struct Registry {
    actions: BTreeMap<ActionId, Registered>,
    declarations: BTreeMap<ActionId, DeclarationKind>,
    /// What is declared to be of the kernel's origin, beside whatever else it is.
    kernel_origin: BTreeSet<ActionId>,
}

#[derive(Debug)]
struct Registered {
    handler: Handler,
    descriptor: ToolDescriptor,
    requirements: Requirements,
    resource: Option<UriTemplate>,
    arguments: CompiledSchema,
    hidden: Arc<Redactions>,
}

/// What a call of an action ends in, with all that is not the same for both kinds.
#[derive(Debug)]
enum Handler {
    Annotated(&'static Action),
    Upstream(Box<UpstreamAction>),
}

impl Handler {
    fn annotated(&self) -> Option<&'static Action> {
        match self {
            Self::Annotated(action) => Some(action),
            Self::Upstream(_) => None,
        }
    }

    fn upstream(&self) -> Option<&UpstreamAction> {
        match self {
            Self::Annotated(_) => None,
            Self::Upstream(action) => Some(action),
        }
    }

    fn egress(&self) -> EgressDeclaration {
        match self {
            Self::Annotated(action) => {
                let channels = action.egress_channels;
                EgressDeclaration {
                    egress_class: action.egress_class.map(str::to_owned),
                    output_channels: channels.map(|channels| {
                        channels.iter().map(|&channel| channel.to_owned()).collect()
                    }),
                }
            }
            Self::Upstream(action) => action.egress.clone(),
        }
    }

    fn redactions(&self) -> BTreeMap<String, String> {
        match self {
            Self::Annotated(action) => {
                let pairs = action.redact.iter();
                pairs
                    .map(|&(path, marker)| (path.to_owned(), marker.to_owned()))
                    .collect()
            }
            Self::Upstream(action) => action.redactions.clone(),
        }
    }

    fn is_non_delegable(&self) -> bool {
        match self {
            Self::Annotated(action) => action.non_delegable,
            Self::Upstream(action) => action.non_delegable,
        }
    }

    /// Reads arguments that fit the schema.
    fn prepare(&self, arguments: Value) -> Result<Prepared, serde_json::Error> {
        match self {
            Self::Annotated(action) => (action.prepare)(arguments),
            Self::Upstream(action) => {
                let handler = Arc::clone(&action.handler);
                Ok(Box::new(move |context| handler(context, arguments)))
            }
        }
    }
}

/// All that keeps a registry from starting, in one message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegistryFaults(Vec<RegistryFault>);

/// One fault: what, where, and how to mend it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RegistryFault {
    /// The id, as written.
    pub id: String,
    /// Where it stands.
    pub at: Place,
    /// What is wrong, and how to mend it.
    pub problem: String,
}

impl RegistryFaults {
    /// Every fault, in the order of ids and places.
    #[must_use]
    pub fn all(&self) -> &[RegistryFault] {
        &self.0
    }

    pub(crate) fn none_or(mut faults: Vec<RegistryFault>) -> Result<(), Self> {
        faults.sort();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Self(faults))
        }
    }
}

impl fmt::Display for RegistryFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        if count == 0 {
            return f.write_str("no action is linked into this binary; name its crate in the code");
        }
        write!(
            f,
            "{count} fault{} in the linked actions:",
            if count == 1 { "" } else { "s" }
        )?;
        self.0
            .iter()
            .try_for_each(|fault| write!(f, "\n  {}: `{}`: {}", fault.at, fault.id, fault.problem))
    }
}

impl std::error::Error for RegistryFaults {}

impl Registry {
    /// The registry of every action that is linked into this binary.
    ///
    /// # Errors
    /// [`RegistryFaults`] with every fault at once.
    pub fn linked() -> Result<Self, RegistryFaults> {
        Self::new(inventory::iter::<Action>, inventory::iter::<Declaration>)
    }

    /// A registry of these actions and declarations. The same items give the same registry in
    /// whatever order they come.
    ///
    /// # Errors
    /// [`RegistryFaults`] with every fault at once.
    pub fn new(
        actions: impl IntoIterator<Item = &'static Action>,
        declarations: impl IntoIterator<Item = &'static Declaration>,
    ) -> Result<Self, RegistryFaults> {
        let mut faults = Vec::new();
        let mut places: BTreeMap<&'static str, BTreeSet<Place>> = BTreeMap::new();
        let mut packs = Vec::new();
        let mut origins = BTreeSet::new();
        let mut registry = Self {
            actions: BTreeMap::new(),
            declarations: BTreeMap::new(),
            kernel_origin: BTreeSet::new(),
        };

        for action in actions {
            // The same item can be seen twice, through a dev-dependency cycle: one place, one item.
            if places.entry(action.id).or_default().insert(action.at) {
                match Registered::new(action) {
                    Ok((id, registered)) => {
                        let problems = registered.problems().into_iter();
                        faults.extend(problems.map(|problem| fault(action.id, action.at, problem)));
                        registry.actions.entry(id).or_insert(registered);
                    }
                    Err(problem) => faults.push(fault(action.id, action.at, problem)),
                }
            }
        }
        for declaration in declarations {
            if let DeclarationKind::Pack { promises } = declaration.kind {
                packs.push((declaration, promises));
                continue;
            }
            // A kernel-origin declaration adds to an action; any other takes its place.
            let adds = declaration.kind == DeclarationKind::KernelOrigin;
            let new = adds
                || places
                    .entry(declaration.id)
                    .or_default()
                    .insert(declaration.at);
            match ActionId::parse(declaration.id) {
                _ if !new => {}
                Ok(id) if adds => {
                    origins.insert((declaration.id, declaration.at));
                    registry.kernel_origin.insert(id);
                }
                Ok(id) => {
                    registry.declarations.insert(id, declaration.kind);
                }
                Err(problem) => {
                    faults.push(fault(declaration.id, declaration.at, problem.to_string()));
                }
            }
        }
        for (id, at) in origins {
            if registry.declarations.get(id) == Some(&DeclarationKind::ControlPlane) {
                let problem = "`control_plane!` says that it has no handler, so the kernel cannot originate it; drop one of the two, or annotate a handler with `class = control_plane`";
                faults.push(fault(id, at, problem.to_owned()));
            }
        }
        for (pack, promises) in packs {
            let problems = registry.broken(pack.id, promises);
            faults.extend(problems.map(|problem| fault(pack.id, pack.at, problem)));
        }
        faults.extend(registry.shared_addresses());
        for (id, places) in &places {
            let others: Vec<String> = places.iter().skip(1).map(ToString::to_string).collect();
            if let (Some(first), false) = (places.first(), others.is_empty()) {
                let problem = format!(
                    "declared again at {}; an id has one declaration",
                    others.join(", ")
                );
                faults.push(fault(id, *first, problem));
            }
        }
        RegistryFaults::none_or(faults).map(|()| registry)
    }

    /// Addresses that two actions have: what is read there would be a matter of their order.
    fn shared_addresses(&self) -> Vec<RegistryFault> {
        let mut seen: BTreeMap<&str, &ActionId> = BTreeMap::new();
        let mut faults = Vec::new();
        // From the last on, so that the first is told of the others.
        for (id, registered) in self.actions.iter().rev() {
            let Some((resource, action)) = registered
                .resource
                .as_ref()
                .zip(registered.handler.annotated())
            else {
                continue;
            };
            if let Some(other) = seen.insert(resource.as_str(), id) {
                let problem = format!(
                    "its resource `{resource}` is that of `{other}` as well; give one of them another"
                );
                faults.push(fault(id.as_str(), action.at, problem));
            }
        }
        faults
    }

    /// The registry with tools of other systems beside the annotated handlers.
    ///
    /// # Errors
    /// Every fault of the tools: an id that is declared already, a bound or a path that finds nothing, a schema that does
    /// not compile.
    pub fn and_upstream(
        mut self,
        actions: impl IntoIterator<Item = UpstreamAction>,
    ) -> Result<Self, Vec<UpstreamFault>> {
        let mut faults = Vec::new();
        for action in actions {
            let (id, tool) = (action.id.clone(), action.from.tool.clone());
            let is_taken =
                self.actions.contains_key(&id) || self.declared().any(|other| *other == id);
            let registered = match is_taken {
                true => Err(vec![
                    "there is an action of this id; name it otherwise".to_owned(),
                ]),
                false => Registered::of_upstream(action),
            };
            match registered {
                Ok(registered) => drop(self.actions.insert(id, registered)),
                Err(problems) => faults.extend(problems.into_iter().map(|problem| UpstreamFault {
                    id: id.clone(),
                    tool: tool.clone(),
                    problem,
                })),
            }
        }
        faults.sort();
        match faults.is_empty() {
            true => Ok(self),
            false => Err(faults),
        }
    }

    /// What a pack promises and this registry does not have.
    fn broken<'a>(
        &'a self,
        name: &'a str,
        promises: &'a [&str],
    ) -> impl Iterator<Item = String> + 'a {
        let is_of_it = |registered: &Registered| {
            let annotated = registered.handler.annotated();
            annotated.is_some_and(|action| action.at.module.split("::").next() == Some(name))
        };
        let none = promises.is_empty() && !self.actions.values().any(is_of_it);
        let none = none.then(|| {
            "the crate has no action in this binary; annotate its handlers, say which actions it has if Cargo.toml has it under another name, or drop the `pack!`"
                .to_owned()
        });
        let missing = promises
            .iter()
            .filter(|id| !self.actions.contains_key(**id));
        none.into_iter().chain(missing.map(|id| {
            format!("the pack promises `{id}`, and no linked handler has it; annotate one, or drop the promise")
        }))
    }

    /// The catalog of these actions. It has an entry and a descriptor for each handler, so a
    /// handler and its descriptor cannot diverge.
    #[must_use]
    pub fn catalog(&self) -> ActionCatalog {
        let non_delegable = self.actions.iter();
        let non_delegable = non_delegable.filter(|(_, r)| r.handler.is_non_delegable());
        let token_type = |(id, registered): (&ActionId, &Registered)| {
            let token_type = registered.handler.annotated()?.selection_token?;
            Some((id.clone(), token_type.to_owned()))
        };
        let resource = |(id, registered): (&ActionId, &Registered)| {
            Some((id.clone(), registered.resource.clone()?))
        };
        let prompts = self.actions.iter();
        let prompts = prompts.filter(|(_, r)| r.handler.annotated().is_some_and(|it| it.prompt));
        let upstream = |(id, registered): (&ActionId, &Registered)| {
            let action = registered.handler.upstream()?;
            Some((id.clone(), action.from.clone()))
        };
        ActionCatalog::new(self.actions.keys().chain(self.declared()).cloned())
            .with_tool_descriptors(
                self.actions
                    .iter()
                    // An operation of the control plane is told to nobody.
                    .filter(|(_, r)| r.requirements.class != Some(Class::ControlPlane))
                    .map(|(id, r)| (id.clone(), r.descriptor.clone()))
                    .collect(),
            )
            .with_egress_declarations(
                self.declared()
                    .map(|id| (id.clone(), EgressDeclaration::default()))
                    .chain(
                        self.actions
                            .iter()
                            .map(|(id, r)| (id.clone(), r.handler.egress())),
                    )
                    .collect(),
            )
            .with_selection_token_types(self.actions.iter().filter_map(token_type).collect())
            .with_undispatchable(
                self.declared()
                    .filter(|id| !self.actions.contains_key(*id))
                    .cloned()
                    .collect(),
            )
            .with_requirements(self.requirements())
            .with_redactions(
                self.actions
                    .iter()
                    .map(|(id, r)| (id.clone(), r.handler.redactions()))
                    .collect(),
            )
            .with_kernel_origin(self.kernel_origin())
            .with_non_delegable(non_delegable.map(|(id, _)| id.clone()).collect())
            .with_resources(self.actions.iter().filter_map(resource).collect())
            .with_prompts(prompts.map(|(id, _)| id.clone()).collect())
            .with_upstream_tools(self.actions.iter().filter_map(upstream).collect())
    }

    /// The ids of all declarations, some of which may have a handler as well.
    fn declared(&self) -> impl Iterator<Item = &ActionId> {
        self.declarations.keys().chain(&self.kernel_origin)
    }

    fn requirements(&self) -> BTreeMap<ActionId, Requirements> {
        let declared = self.declarations.iter();
        let owned = declared.filter(|(_, kind)| **kind == DeclarationKind::ControlPlane);
        let owned = owned.map(|(id, _)| (id.clone(), Requirements::of(Class::ControlPlane)));
        let actions = self.actions.iter();
        let asked = actions.map(|(id, r)| (id.clone(), r.requirements.clone()));
        owned.chain(asked).collect()
    }

    /// What the kernel itself may originate: what is declared so, and what no agent can.
    fn kernel_origin(&self) -> BTreeSet<ActionId> {
        let owned = self.actions.iter();
        let owned = owned.filter(|(_, r)| r.requirements.class == Some(Class::ControlPlane));
        let ids = owned.map(|(id, _)| id).chain(&self.kernel_origin);
        ids.cloned().collect()
    }

    /// Checks that the host gives every handler what it takes by reference.
    ///
    /// # Errors
    /// [`RegistryFaults`] that name each action and the type that is missing.
    pub fn check_resources(&self, resources: &Resources) -> Result<(), RegistryFaults> {
        let faults: Vec<_> = self
            .actions
            .values()
            .filter_map(|registered| registered.handler.annotated())
            .flat_map(|action| {
                action.host_types().filter(|wanted| !resources.has(*wanted)).map(|wanted| {
                    let problem = format!(
                        "its handler takes `&{}`, and the host registered none; add `.resource(...)`, or take it by value if the model fills it in",
                        wanted.name()
                    );
                    fault(action.id, action.at, problem)
                })
            })
            .collect();
        RegistryFaults::none_or(faults)
    }

    /// The annotated actions, in the order of their ids.
    pub fn actions(&self) -> impl Iterator<Item = (&ActionId, &'static Action)> {
        let annotated =
            |(id, registered): (_, &Registered)| Some((id, registered.handler.annotated()?));
        self.actions.iter().filter_map(annotated)
    }

    /// Checks that arguments fit the action's schema and that its handler's type reads them.
    ///
    /// # Errors
    /// Every fault of the arguments; one fault when nothing dispatches the action.
    pub fn check_arguments(&self, id: &str, arguments: &Value) -> Result<(), Vec<ArgumentFault>> {
        self.read(id, arguments.clone()).map(drop)
    }

    /// Arguments that fit, as they may be looked at: what is secret in them is hidden.
    ///
    /// # Errors
    /// Those of [`check_arguments`](Self::check_arguments).
    pub fn shown_arguments(
        &self,
        id: &str,
        arguments: Value,
    ) -> Result<ShownArguments, Vec<ArgumentFault>> {
        self.read(id, arguments).map(|read| read.shown)
    }

    /// Whether the action's handler says that a second run with the same arguments changes nothing more; not so where
    /// nothing dispatches it.
    #[must_use]
    pub fn is_idempotent(&self, id: &str) -> bool {
        let found = self.actions.get(id);
        found.is_some_and(|registered| registered.descriptor.hints.idempotent)
    }

    /// Whether the action's handler says that it changes nothing; not so where nothing dispatches it.
    #[must_use]
    pub fn is_read_only(&self, id: &str) -> bool {
        let found = self.actions.get(id);
        found.is_some_and(|registered| registered.descriptor.hints.read_only)
    }

    /// Admits a permitted call: its arguments fit, so its handler can be run.
    ///
    /// # Errors
    /// Every fault of the arguments. The permit is spent all the same.
    pub fn admit(&self, permit: Permit) -> Result<Admitted, Vec<ArgumentFault>> {
        let arguments = Value::Object(permit.request().arguments.clone());
        let read = self.read(permit.action().as_str(), arguments)?;
        Ok(Admitted { permit, read })
    }

    /// Whether the annotation of an action names a check of its arguments.
    #[must_use]
    pub fn has_check(&self, id: &str) -> bool {
        let annotated = self.actions.get(id).and_then(|it| it.handler.annotated());
        annotated.is_some_and(|action| action.check.is_some())
    }

    /// What the check that an action's annotation names finds in arguments that fit the schema; nothing
    /// where it names none.
    ///
    /// # Errors
    /// The check's own, that it cannot tell; rid of the secrets that were seen.
    pub async fn checked(
        &self,
        id: &str,
        mut arguments: Value,
        context: HandlerContext,
    ) -> Result<Vec<ArgumentFault>, ActionError> {
        let registered = self.actions.get(id);
        let Some((registered, check)) =
            registered.and_then(|it| Some((it, it.handler.annotated()?.check?)))
        else {
            return Ok(Vec::new());
        };
        without_fractions(&mut arguments);
        let mut shown = arguments.clone();
        let watch = Watch::default();
        registered.hidden.apply(&mut shown);
        watch.note_differences(&arguments, &shown);
        let look = watch.during(|| check(arguments)).map_err(|_| {
            ActionError::failed("the arguments fit the schema, and the handler's type refuses them")
        })?;
        let mut looking = watch.during(|| look(context));
        let found = poll_fn(|cx| watch.during(|| looking.as_mut().poll(cx))).await;
        found.map_err(|error| error.scrubbed(&watch))
    }

    /// One answer from schema and serde: a call that fits the one and not the other is refused like
    /// any that does not fit, before anything is recorded as begun.
    fn read(&self, id: &str, mut arguments: Value) -> Result<Read, Vec<ArgumentFault>> {
        let refused = |problem: &str| {
            vec![ArgumentFault {
                at: String::new(),
                problem: problem.to_owned(),
            }]
        };
        let Some(registered) = self.actions.get(id) else {
            return Err(refused("nothing dispatches this action"));
        };
        registered.arguments.check(&arguments)?;
        without_fractions(&mut arguments);
        let mut shown = arguments.clone();
        let watch = Watch::default();
        registered.hidden.apply(&mut shown);
        watch.note_differences(&arguments, &shown);
        let is_redacted = shown != arguments;
        // The error's text may hold values; `actum::testing` finds such types before they are used.
        let prepared = watch
            .during(|| registered.handler.prepare(arguments))
            .map_err(|_| refused("fit the schema, and the handler's type refuses them"))?;
        let has_secrets = watch.hide_in(&mut shown);
        Ok(Read {
            hints: registered.descriptor.hints,
            prepared,
            shown: ShownArguments {
                value: shown,
                hides: is_redacted || has_secrets,
            },
            hidden: Arc::clone(&registered.hidden),
            watch,
        })
    }
}

/// The paths that are hidden wherever a call can be looked into. Each has to find something, in the
/// arguments or in the result: one that cannot is a mistake, and what it was meant to hide would show.
fn redactions<'a>(
    declared: impl IntoIterator<Item = (&'a str, &'a str)>,
    parameters: &Value,
    result: Option<&Value>,
) -> Result<Redactions, String> {
    let all = Redactions::parse(declared).map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        faults.join("; ")
    })?;
    let finds = |path: &&RedactionPath| {
        let mut schemas = std::iter::once(parameters).chain(result);
        // A result is open so that it may grow, but its type writes nothing that its schema does not say.
        schemas.any(|schema| reach(path, schema) == Reach::Told)
    };
    let idle: Vec<_> = all.paths().filter(|path| !finds(path)).collect();
    if idle.is_empty() {
        return Ok(all);
    }
    let idle: Vec<_> = idle.iter().map(|path| format!("`{path}`")).collect();
    Err(format!(
        "its redaction of {} finds nothing, in no arguments and in no result; correct the path, or drop it",
        idle.join(", ")
    ))
}

impl Registered {
    fn new(action: &'static Action) -> Result<(ActionId, Self), String> {
        let id = ActionId::parse(action.id).map_err(|fault| fault.to_string())?;
        let schema = (action.parameters)().map_err(|fault| fault.to_string())?;
        let arguments = CompiledSchema::new(&schema).map_err(|fault| fault.to_string())?;
        let output = (action.output)().map_err(|fault| format!("in its result: {fault}"))?;
        let resource = action.resource.map(UriTemplate::parse).transpose();
        let resource = resource.map_err(|fault| format!("its resource {fault}"))?;
        let hidden = redactions(action.redact.iter().copied(), &schema, output.as_ref())?;
        let descriptor = ToolDescriptor {
            name: ToolName::of(&id).to_string(),
            description: action.description.to_owned(),
            parameters_schema: schema,
            approval_required: action.approval_required,
            selection_token_required: action.selection_token.is_some(),
            idempotency_key_required: action.idempotency_key_required,
            title: action.title.map(str::to_owned),
            output_schema: output,
            hints: action.hints,
        };
        Ok((
            id,
            Self {
                handler: Handler::Annotated(action),
                descriptor,
                requirements: action.asks.requirements(),
                resource,
                arguments,
                hidden: Arc::new(hidden),
            },
        ))
    }

    fn of_upstream(action: UpstreamAction) -> Result<Self, Vec<String>> {
        let descriptor = action.descriptor.clone();
        let schema = &descriptor.parameters_schema;
        let arguments = CompiledSchema::new(schema).map_err(|fault| vec![fault.to_string()])?;
        let declared = action.redactions.iter();
        let declared = declared.map(|(path, marker)| (path.as_str(), marker.as_str()));
        let output = descriptor.output_schema.as_ref();
        let hidden = redactions(declared, schema, output).map_err(|problem| vec![problem])?;
        let name = ToolName::of(&action.id);
        let mut problems = Vec::new();
        if descriptor.name != name.as_str() || descriptor.selection_token_required {
            problems.push(format!(
                "its descriptor is not one of this action; its name is `{name}`, and it takes no selection token"
            ));
        }
        for bound in &action.from.bounds {
            if bound.action != action.id || !bound.can_be_kept(&descriptor) {
                problems.push(format!(
                    "no call of it could keep what `{}` is held to; correct the bound, or drop the tool",
                    bound.at
                ));
            }
        }
        let registered = Self {
            requirements: action.requirements.clone(),
            resource: None,
            handler: Handler::Upstream(Box::new(action)),
            descriptor,
            arguments,
            hidden: Arc::new(hidden),
        };
        problems.extend(registered.problems());
        match problems.is_empty() {
            true => Ok(registered),
            false => Err(problems),
        }
    }

    /// What of it does not go together, each with its remedy.
    fn problems(&self) -> Vec<String> {
        let parameters = &self.descriptor.parameters_schema;
        let mut problems = self.requirements.faults(Some(parameters));
        if let Some(resource) = &self.resource {
            problems.extend(not_filled_in(resource, parameters));
        }
        let annotated = self.handler.annotated();
        if annotated.is_some_and(|it| it.prompt) {
            problems.extend(no_words(parameters));
        }
        if annotated.is_some_and(|it| it.takes_selection() && it.selection_token.is_none()) {
            problems.push(
                "its handler takes `&Selection`, but the annotation has no `selection_token = \"...\"`"
                    .to_owned(),
            );
        }
        problems
    }
}

/// Arguments and variables that do not meet: an address says all that has to be said, and only texts.
fn not_filled_in(resource: &UriTemplate, parameters: &Value) -> Option<String> {
    let variables: BTreeSet<&str> = resource.variables().collect();
    let required = parameters.get("required").and_then(Value::as_array);
    let required: BTreeSet<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let of_text = |name: &&str| not_a_required_text(parameters, name).is_none();
    let fits = variables == required && variables.iter().all(of_text);
    (!fits).then(|| {
        format!("its resource `{resource}` has to have each argument that a call must have as a variable, and no other, and they have to be texts")
    })
}

/// Arguments of a prompt that are no texts, which is all that a person can fill in. One that may be left out is.
fn no_words(parameters: &Value) -> Option<String> {
    let required = parameters.get("required").and_then(Value::as_array);
    let others: Vec<_> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| not_a_required_text(parameters, name).is_some())
        .map(|name| format!("`{name}`"))
        .collect();
    (!others.is_empty()).then(|| {
        format!(
            "is a prompt, whose arguments are texts, and {} is none; make it one, or drop `prompt`",
            others.join(", ")
        )
    })
}

fn fault(id: &str, at: Place, problem: String) -> RegistryFault {
    RegistryFault {
        id: id.to_owned(),
        at,
        problem,
    }
}
