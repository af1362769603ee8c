-- What errors are grouped by is read when an event arrives, so that grouping needs nothing but statements.
alter table error_tracking_events
  drop column sender,
  add column name        text not null,
  add column actor       text not null,
  add column platform    text not null,
  add column fingerprint text not null,
  add column tags        jsonb not null,
  alter column occurred_at set not null,
  alter column level set not null,
  alter column environment set not null,
  alter column description set not null;
