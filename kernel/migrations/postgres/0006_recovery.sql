-- What a call that was cut off needs: how often it was resumed, so that one that takes its kernel with it ends.

ALTER TABLE calls ADD COLUMN resumptions BIGINT NOT NULL DEFAULT 0;

CREATE INDEX calls_unknown ON calls (state) WHERE state = 'outcome_unknown';
