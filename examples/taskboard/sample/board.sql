-- A small company to try things with. The principals are those of the sample's configuration.

UPDATE company SET name = 'Brick and Mortar';

INSERT INTO actors (id, name, role, principal) VALUES
    ('ada', 'Ada', 'engineer', 'known:01J0000000000000000000ADA0'),
    ('bert', 'Bert', 'approver', 'known:01J0000000000000000000BERT'),
    ('cleo', 'Cleo', 'security', 'known:01J0000000000000000000C1E0');

INSERT INTO goals (id, title) VALUES ('dry', 'Every house is dry before winter');
INSERT INTO projects (id, name) VALUES ('roof', 'The roof of house 7');
INSERT INTO routines (id, name, schedule) VALUES ('inspection', 'Inspect the site', 'every Monday');

INSERT INTO tasks (id, title, description, status, priority, assignee, routine, created_by, created_at, updated_at) VALUES
    ('slates', 'Order the slates', 'Grey ones, for 80 square metres.', 'open', 'high', 'bert', NULL, 'control plane', '2024-01-01T08:00:00Z', '2024-01-01T08:00:00Z'),
    ('inspect', 'Inspect the site', 'See what is dry, and write it down.', 'active', 'normal', 'ada', 'inspection', 'control plane', '2024-01-01T08:00:00Z', '2024-01-01T08:00:00Z'),
    ('budget', 'Watch the budget', 'Decide what may be bought.', 'active', 'normal', 'bert', NULL, 'control plane', '2024-01-01T08:00:00Z', '2024-01-01T08:00:00Z'),
    ('keys', 'Look after the keys', 'Who has which, and who should.', 'active', 'normal', 'cleo', NULL, 'control plane', '2024-01-01T08:00:00Z', '2024-01-01T08:00:00Z');

INSERT INTO history (task, at, actor, kind, body) VALUES
    ('slates', '2024-01-01T08:00:00Z', 'control plane', 'created', 'Order the slates'),
    ('inspect', '2024-01-01T08:00:00Z', 'control plane', 'created', 'Inspect the site'),
    ('inspect', '2024-01-01T08:00:00Z', 'control plane', 'checked_out', 'ada'),
    ('budget', '2024-01-01T08:00:00Z', 'control plane', 'created', 'Watch the budget'),
    ('budget', '2024-01-01T08:00:00Z', 'control plane', 'checked_out', 'bert'),
    ('keys', '2024-01-01T08:00:00Z', 'control plane', 'created', 'Look after the keys'),
    ('keys', '2024-01-01T08:00:00Z', 'control plane', 'checked_out', 'cleo');

INSERT INTO cases (key, body, updated_by, updated_at) VALUES
    ('house-7', 'Rain comes in at the north side.', 'bert', '2024-01-01T08:00:00Z');

INSERT INTO services (id, name, state) VALUES ('preview', 'Preview of the plans', 'stopped');

INSERT INTO skill_library (name, version, summary) VALUES
    ('measure', 2, 'Measure a roof.'),
    ('estimate', 1, 'Estimate what a roof costs.');
INSERT INTO company_skills (name, version, summary, synced_at) VALUES
    ('measure', 1, 'Measure a roof.', '2024-01-01T08:00:00Z');

INSERT INTO secrets (name, purpose, value, updated_at) VALUES
    ('supplier', 'Orders at the supplier of slates.', 'a-sample-and-no-secret', '2024-01-01T08:00:00Z');
