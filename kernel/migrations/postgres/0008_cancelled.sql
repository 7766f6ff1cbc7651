-- A call that waits can be taken back by its worker.

ALTER TABLE calls
    DROP CONSTRAINT calls_state_check,
    ADD CONSTRAINT calls_state_check CHECK (state IN (
        'pending', 'approved', 'rejected', 'expired', 'cancelled', 'refused',
        'running', 'succeeded', 'failed', 'outcome_unknown'
    ));
