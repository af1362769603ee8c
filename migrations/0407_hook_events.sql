-- What hooks are told: one row for each change that a hook asks for, written in its transaction. A job makes the body of it and the deliveries.
create table hook_events (
  id         uuid primary key default gen_random_uuid(),
  trigger    text not null,
  -- Whether it is for hooks of the server; these get other bodies.
  is_system  boolean not null,
  -- The body as far as the database has it, until the job has completed it.
  facts      json,
  body       text,
  -- No foreign keys: the job looks for the hooks and skips those that are gone.
  hook_ids   bigint[] not null,
  created_at timestamptz not null default now(),
  check (num_nonnulls(facts, body) = 1)
);
create index hook_events_by_age on hook_events (created_at);

-- Each attempt to send an event to a hook: those that are due, and the log of the others.
create table hook_deliveries (
  id                 bigint generated always as identity primary key,
  hook_id            bigint not null references hooks on delete cascade,
  event_id           uuid not null references hook_events on delete cascade,
  -- The same for all attempts.
  idempotency_key    uuid not null default gen_random_uuid(),
  attempt            integer not null default 1 check (attempt > 0),
  -- Null when it was sent.
  due_at             timestamptz,
  url                text,
  request_headers    jsonb,
  -- Null when there was no response; then the body says why.
  response_status    integer,
  response_headers   jsonb,
  response_body      text,
  -- Seconds.
  execution_duration double precision,
  created_at         timestamptz not null default now()
);
create index hook_deliveries_due on hook_deliveries (due_at) where due_at is not null;
create index hook_deliveries_of_hook on hook_deliveries (hook_id, id);
create index hook_deliveries_of_event on hook_deliveries (event_id);
