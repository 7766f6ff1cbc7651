async fn now() -> Result<u64, ActionError> {
    Ok(0)
}

#[doc(hidden)]
#[allow(non_upper_case_globals)]
const __action_now: ::actum::__private::Action = {
    const __ACTION: ::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                ::actum::__private::check_action_id("clock.read"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        ::actum::__private::output_can_be_told::<Result<u64, ActionError>>();
        ::actum::__private::Action {
            id: "clock.read",
            description: "Tell the time.",
            title: ::core::option::Option::None,
            approval_required: false,
            idempotency_key_required: false,
            non_delegable: false,
            selection_token: ::core::option::Option::None,
            egress_channels: ::core::option::Option::None,
            egress_class: ::core::option::Option::None,
            asks: ::actum::__private::Asks::NOTHING,
            resource: ::core::option::Option::None,
            prompt: false,
            redact: &[],
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
            parameters: ::actum::__private::no_parameters,
            output: ::actum::__private::output_schema::<Result<u64, ActionError>>,
            needs: &[],
            prepare: |_| ::actum::__private::prepare_without(|_| ::actum::__private::handler_future(async move {
                ::actum::__private::output::<Result<u64, ActionError>>(now().await)
            })),
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
const __ACTION_ID_clock_DOT_read: () = ();
