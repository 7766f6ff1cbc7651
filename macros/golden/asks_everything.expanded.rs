async fn send(ask: Ask) -> Result<(), ActionError> {
    ask.go().await
}

#[doc(hidden)]
#[allow(non_upper_case_globals)]
const __action_send: ::actum::__private::Action = {
    const __ACTION: ::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                ::actum::__private::check_action_id("case.send"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        ::actum::__private::payload_can_be_read::<Ask>();
        ::actum::__private::payload_can_be_described::<Ask>();
        ::actum::__private::payload_can_be_sent::<Ask>();
        {
            use ::actum::__private::PerhapsAnObject as _;
            ::actum::__private::payload_has_fields::<
                Ask,
                _,
            >(::actum::__private::Shape::<Ask>::KIND);
        }
        ::actum::__private::output_can_be_told::<Result<(), ActionError>>();
        ::actum::__private::Action {
            id: "case.send",
            description: "Send a request about a case.",
            title: ::core::option::Option::None,
            approval_required: false,
            idempotency_key_required: false,
            non_delegable: false,
            selection_token: ::core::option::Option::None,
            egress_channels: ::core::option::Option::None,
            egress_class: ::core::option::Option::None,
            asks: ::actum::__private::Asks {
                class: ::core::option::Option::Some(::actum::__private::Class::Optional),
                claims: &["cases:write", "cases:send"],
                roles: &["approver", "lead"],
                modes: &["test"],
                reads_secrets: true,
                escape_hatch: ::core::option::Option::Some(("verb", "target")),
                interaction: ::core::option::Option::Some("kind"),
            },
            resource: ::core::option::Option::None,
            prompt: false,
            redact: &[
                ("$.headers.authorization", "[REDACTED]"),
                ("$.items[*].key", "[KEY]"),
            ],
            hints: ::actum::__private::Hints {
                read_only: false,
                destructive: false,
                idempotent: false,
                open_world: false,
            },
            at: ::actum::__private::Place {
                file: ::core::file!(),
                line: ::core::line!(),
                column: ::core::column!(),
                module: ::core::module_path!(),
            },
            parameters: ::actum::__private::parameters::<Ask>,
            output: ::actum::__private::output_schema::<Result<(), ActionError>>,
            needs: &[],
            prepare: |arguments| ::actum::__private::prepare::<
                Ask,
            >(
                arguments,
                |_, payload| ::actum::__private::handler_future(async move {
                    ::actum::__private::output::<
                        Result<(), ActionError>,
                    >(send(payload).await)
                }),
            ),
            check: ::core::option::Option::None,
        }
    };
    ::actum::__private::inventory::submit! {
        __ACTION
    }
    __ACTION
};
#[doc(hidden)]
#[allow(dead_code, non_upper_case_globals)]
const __ACTION_ID_case_DOT_send: () = ();
