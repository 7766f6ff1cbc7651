/// Deletes a mail.
#[deprecated]
#[expect(deprecated)]
pub(crate) async fn delete(mailbox: &Mailbox, which: Which) -> Result<(), ActionError> {
    mailbox.delete(which).await
}

#[allow(deprecated)]
#[allow(deprecated)]
#[doc(hidden)]
#[allow(non_upper_case_globals)]
pub(crate) const __action_delete: ::actum::__private::Action = {
    const __ACTION: ::actum::__private::Action = {
        ::core::assert!(
            ::core::matches!(
                ::actum::__private::check_action_id("mail.delete:forever"),
                ::core::result::Result::Ok(())
            ),
            "the kernel takes no such action id",
        );
        ::actum::__private::payload_can_be_read::<Which>();
        ::actum::__private::payload_can_be_described::<Which>();
        ::actum::__private::payload_can_be_sent::<Which>();
        {
            use ::actum::__private::PerhapsAnObject as _;
            ::actum::__private::payload_has_fields::<
                Which,
                _,
            >(::actum::__private::Shape::<Which>::KIND);
        }
        ::actum::__private::resource_can_be_shared::<Mailbox>();
        ::actum::__private::output_can_be_told::<Result<(), ActionError>>();
        ::actum::__private::Action {
            id: "mail.delete:forever",
            description: "Delete a mail for ever.",
            title: ::core::option::Option::Some("Delete mail"),
            approval_required: true,
            idempotency_key_required: true,
            non_delegable: true,
            selection_token: ::core::option::Option::Some("email_thread_selection"),
            egress_channels: ::core::option::Option::Some(&["owner", "imap"]),
            egress_class: ::core::option::Option::Some("mail"),
            asks: ::actum::__private::Asks::NOTHING,
            resource: ::core::option::Option::None,
            prompt: false,
            redact: &[],
            hints: ::actum::__private::Hints {
                read_only: false,
                destructive: true,
                idempotent: true,
                open_world: true,
            },
            at: ::actum::__private::Place {
                file: ::core::file!(),
                line: ::core::line!(),
                column: ::core::column!(),
                module: ::core::module_path!(),
            },
            parameters: ::actum::__private::parameters::<Which>,
            output: ::actum::__private::output_schema::<Result<(), ActionError>>,
            needs: &[::actum::__private::HostType::of::<Mailbox>],
            prepare: |arguments| ::actum::__private::prepare::<
                Which,
            >(
                arguments,
                |context, payload| ::actum::__private::handler_future(async move {
                    ::actum::__private::output::<
                        Result<(), ActionError>,
                    >(
                        delete(::actum::__private::host::<Mailbox>(&context)?, payload)
                            .await,
                    )
                }),
            ),
            check: ::core::option::Option::Some(|arguments| ::actum::__private::prepare_check::<
                Which,
            >(
                arguments,
                |context, payload| ::actum::__private::check_future(async move {
                    is_allowed_to_go(
                            ::actum::__private::host::<Mailbox>(&context)?,
                            &payload,
                        )
                        .await
                }),
            )),
        }
    };
    ::actum::__private::inventory::submit! {
        __ACTION
    }
    __ACTION
};
#[doc(hidden)]
#[allow(dead_code, non_upper_case_globals)]
const __ACTION_ID_mail_DOT_delete_COLON_forever: () = ();
