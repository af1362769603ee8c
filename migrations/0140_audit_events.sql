-- Who did what (docs/reference/audit_events.md). Rows are only ever added, in the transaction of the change that they are about.
create table audit_events (
  id bigint generated always as identity not null,
  created_at timestamptz not null default clock_timestamp(),
  event_name text not null,
  author_id bigint not null,
  author_name text not null,
  author_email text,
  author_class text not null,
  acts_as text,
  ip_address inet,
  entity_type text not null,
  entity_id bigint not null,
  entity_path text not null,
  target_id bigint,
  target_type text,
  target_details text,
  details jsonb not null,
  place bigint,
  previous_hash bytea,
  hash bytea,
  primary key (created_at, id)
) partition by range (created_at);
comment on table audit_events is 'Who did what, in partitions by month. Triggers refuse changes and deletions; partitions whose time is over are dropped. No row refers to another table, so that events outlive what they are about.';
comment on column audit_events.author_id is 'The user who acted; under sudo the administrator. -1 for commands, for the server itself, and for people who are not signed in.';
comment on column audit_events.author_class is 'User, DeployToken, ApplicationToken, CLI or System.';
comment on column audit_events.acts_as is 'The username of the user as whom an administrator acted with sudo.';
comment on column audit_events.entity_path is 'The path at the time of the event.';
comment on column audit_events.target_details is 'The name of the target at the time of the event.';
comment on column audit_events.details is 'What was done: add, remove, change with from and to, or custom_message.';
comment on column audit_events.place is 'The place in the chain of the partition, from 1; like the hashes, it is set when the transaction commits.';
comment on column audit_events.previous_hash is 'The hash of the event before in the partition; empty for the first one.';
comment on column audit_events.hash is 'The SHA-256 of the hash before and of all that the event says.';
create index audit_events_id_idx on audit_events (id);
create index audit_events_entity_idx on audit_events (entity_type, entity_id, id);
create index audit_events_author_idx on audit_events (author_id, id);
create index audit_events_name_idx on audit_events (event_name, id);
create table audit_events_default partition of audit_events default;
comment on table audit_events_default is 'Events of months without a partition of their own, such as the first one of the installation.';

create table audit_chains (
  partition text primary key,
  length bigint not null,
  last_hash bytea not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  dropped_at timestamptz
);
comment on table audit_chains is 'The end of the chain of hashes of each partition of audit_events: a missing event at the end of a partition shows here.';
comment on column audit_chains.partition is 'The name of the partition.';
comment on column audit_chains.dropped_at is 'When the partition was dropped, because its events had been kept long enough.';

create function audit_hash(previous bytea, event audit_events) returns bytea language sql immutable as $$
  select sha256(previous || convert_to(jsonb_build_array(
    event.id, extract(epoch from event.created_at), event.event_name, event.author_id, event.author_name, event.author_email, event.author_class, event.acts_as,
    host(event.ip_address), event.entity_type, event.entity_id, event.entity_path, event.target_id, event.target_type, event.target_details, event.details, event.place)::text, 'UTF8'))
$$;

-- Runs when the transaction commits: the row of the partition is locked no longer than the commit itself takes, and never before any other lock.
create function chain_audit_event() returns trigger language plpgsql as $$
declare
  chain audit_chains;
  event audit_events := new;
begin
  select * into chain from audit_chains where partition = tg_table_name and dropped_at is null for update;
  if not found then
    -- Whoever comes second waits here, and then finds the row.
    insert into audit_chains (partition, length, last_hash, first_at, last_at) values (tg_table_name, 0, '', event.created_at, event.created_at)
      on conflict (partition) do update set length = case when audit_chains.dropped_at is null then audit_chains.length else 0 end,
        last_hash = case when audit_chains.dropped_at is null then audit_chains.last_hash else '' end, dropped_at = null
      returning * into chain;
  end if;
  event.place := chain.length + 1;
  event.previous_hash := chain.last_hash;
  event.hash := audit_hash(event.previous_hash, event);
  update audit_events set place = event.place, previous_hash = event.previous_hash, hash = event.hash where created_at = event.created_at and id = event.id;
  update audit_chains set length = event.place, last_hash = event.hash, last_at = event.created_at where partition = tg_table_name;
  return null;
end $$;
create constraint trigger chain_audit_event after insert on audit_events deferrable initially deferred for each row execute function chain_audit_event();

create function keep_audit_events() returns trigger language plpgsql as $$
begin
  raise exception 'Audit events are never changed or deleted.' using errcode = 'insufficient_privilege';
end $$;
-- The chaining above sets hashes once: it runs in a trigger, and the row has none yet.
create trigger keep_audit_event before update on audit_events for each row when (old.hash is not null or pg_trigger_depth() = 0) execute function keep_audit_events();
create trigger keep_deleted_audit_event before delete on audit_events for each row execute function keep_audit_events();
create trigger keep_audit_events before truncate on audit_events for each statement execute function keep_audit_events();
create trigger keep_audit_events before truncate on audit_events_default for each statement execute function keep_audit_events();

-- Adds an event. The transaction says who acts, as JSON in coppice.actor (src/foundation/actors.ts); without it, the server itself does.
create function write_audit_event(event_name text, entity_type text, entity_id bigint, entity_path text, target_id bigint, target_type text, target_details text, details jsonb, author jsonb default null)
  returns void language plpgsql as $$
declare
  actor jsonb := coalesce(author, nullif(current_setting('coppice.actor', true), '')::jsonb, '{}');
begin
  if actor ? 'only' and not actor->'only' ? event_name then return; end if;
  insert into audit_events (event_name, author_id, author_name, author_email, author_class, acts_as, ip_address, entity_type, entity_id, entity_path,
                            target_id, target_type, target_details, details)
  values (event_name, coalesce((actor->>'id')::bigint, -1), coalesce(actor->>'name', '(System)'), actor->>'email', coalesce(actor->>'class', 'System'),
          actor->>'as', (actor->>'ip')::inet, entity_type, entity_id, entity_path, target_id, target_type, target_details, details);
end $$;

-- The path of the user, group or project that an event is about.
create function audit_path(entity_type text, entity_id bigint) returns text language sql stable as $$
  select coalesce(case entity_type
    when 'User' then (select username::text from users where id = entity_id)
    when 'Group' then (select full_path::text from namespaces where id = entity_id)
    when 'Project' then (select full_path::text from projects where id = entity_id)
    else 'gitlab_instance' end, '')
$$;

alter table application_settings add column audit_retention_days integer check (audit_retention_days >= 1);
comment on column application_settings.audit_retention_days is 'After how many days the months of audit events are dropped; null for never.';

create table repeated_migrations (
  name text primary key,
  digest bytea not null
);
comment on table repeated_migrations is 'The generated files of migrations/ that run again whenever they have changed.';
comment on column repeated_migrations.digest is 'The SHA-256 of the text that ran last.';
