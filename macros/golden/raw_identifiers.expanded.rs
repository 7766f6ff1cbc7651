async fn r#type(r#fn: r#mod::r#struct) -> Result<(), ActionError> {
    Ok(())
}

#[doc(hidden)]
#[allow(non_upper_case_globals)]
const __action_type: ::actum::__private::Action = {
    const __ACTION: ::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                ::actum::__private::check_action_id("word.type"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        ::actum::__private::payload_can_be_read::<r#mod::r#struct>();
        ::actum::__private::payload_can_be_described::<r#mod::r#struct>();
        ::actum::__private::payload_can_be_sent::<r#mod::r#struct>();
        {
            use ::actum::__private::PerhapsAnObject as _;
            ::actum::__private::payload_has_fields::<
                r#mod::r#struct,
                _,
            >(::actum::__private::Shape::<r#mod::r#struct>::KIND);
        }
        ::actum::__private::output_can_be_told::<Result<(), ActionError>>();
        ::actum::__private::Action {
            id: "word.type",
            description: "Type a word.",
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
            parameters: ::actum::__private::parameters::<r#mod::r#struct>,
            output: ::actum::__private::output_schema::<Result<(), ActionError>>,
            needs: &[],
            prepare: |arguments| ::actum::__private::prepare::<
                r#mod::r#struct,
            >(
                arguments,
                |_, payload| ::actum::__private::handler_future(async move {
                    ::actum::__private::output::<
                        Result<(), ActionError>,
                    >(r#type(payload).await)
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
const __ACTION_ID_word_DOT_type: () = ();
