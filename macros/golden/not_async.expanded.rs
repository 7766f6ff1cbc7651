fn add(ask: Add) -> Sum {
    Ok(ask.a + ask.b)
}

#[doc(hidden)]
#[allow(non_upper_case_globals)]
const __action_add: ::actum::__private::Action = {
    const __ACTION: ::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                ::actum::__private::check_action_id("math.add"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        ::actum::__private::payload_can_be_read::<Add>();
        ::actum::__private::payload_can_be_described::<Add>();
        ::actum::__private::payload_can_be_sent::<Add>();
        {
            use ::actum::__private::PerhapsAnObject as _;
            ::actum::__private::payload_has_fields::<
                Add,
                _,
            >(::actum::__private::Shape::<Add>::KIND);
        }
        ::actum::__private::output_can_be_told::<Sum>();
        ::actum::__private::Action {
            id: "math.add",
            description: "Add two numbers.",
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
                idempotent: true,
                open_world: false,
            },
            at: ::actum::__private::Place {
                file: ::core::file!(),
                line: ::core::line!(),
                column: ::core::column!(),
                module: ::core::module_path!(),
            },
            parameters: ::actum::__private::parameters::<Add>,
            output: ::actum::__private::output_schema::<Sum>,
            needs: &[],
            prepare: |arguments| ::actum::__private::prepare::<
                Add,
            >(
                arguments,
                |_, payload| ::actum::__private::handler_future(async move {
                    ::actum::__private::output::<Sum>(add(payload))
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
const __ACTION_ID_math_DOT_add: () = ();
