-- Streaming destinations of audit events are webhooks of another kind (docs/reference/audit_events.md#streaming): what sends, repeats and disables webhooks does the same for them.
alter table hooks add column event_type_filters text[],
  add column active boolean not null default true,
  add constraint hooks_streams_have_no_triggers check (event_type_filters is null or project_id is null and not push_events and not repository_update_events);
comment on column hooks.event_type_filters is 'Null for webhooks. Of streaming destinations of audit events, the names of the events that are sent; empty for all.';
comment on column hooks.active is 'Whether a streaming destination is told of events, unless failures have disabled it.';
create index hooks_that_stream on hooks (group_id) where event_type_filters is not null;

-- Queues an event for the destinations that ask for it. The event is sent once for each; a destination that failures have paused gets it later.
create function stream_audit_event(event audit_events) returns void language plpgsql as $$
declare
  cause uuid := (nullif(current_setting('coppice.actor', true), '')::jsonb->>'cause')::uuid;
  top bigint;
  receivers bigint[];
  chain_depth integer;
  told_id uuid;
begin
  if coalesce((select plan from current_license), 'free') <> 'ultimate' then return; end if;
  -- While a group is created, its own traversal_ids are not complete; the ids of its parent are.
  if event.entity_type = 'Group' then
    select coalesce(above.traversal_ids[1], it.id) into top from namespaces it left join namespaces above on above.id = it.parent_id where it.id = event.entity_id;
  end if;
  if event.entity_type = 'Project' then
    select traversal_ids[1] into top from namespaces where id = (select namespace_id from projects where projects.id = event.entity_id);
  end if;
  select array_agg(id) into receivers from hooks
   where event_type_filters is not null and active and recent_failures < 40 and (group_id is null or group_id = top)
     and (event_type_filters = '{}' or event.event_name = any(event_type_filters));
  if receivers is null then return; end if;
  -- What a receiver causes by calling the API is one step deeper than what it was told of: a loop ends, as with webhooks.
  chain_depth := coalesce((select depth + 1 from hook_events where id = cause), 0);
  if chain_depth > 10 then return; end if;
  insert into hook_events (trigger, is_system, event, snapshot, hook_ids, depth)
    values ('audit_events', false, 'audit_event', (to_jsonb(event) - '{place,previous_hash,hash}'::text[])::json, receivers, chain_depth) returning id into told_id;
  perform graphile_worker.add_job('present_hook_event', json_build_object('id', told_id), max_attempts => 21);
end $$;

create or replace function write_audit_event(event_name text, entity_type text, entity_id bigint, entity_path text, target_id bigint, target_type text, target_details text, details jsonb, author jsonb default null)
  returns void language plpgsql as $$
declare
  actor jsonb := coalesce(author, nullif(current_setting('coppice.actor', true), '')::jsonb, '{}');
  event audit_events;
begin
  if actor ? 'only' and not actor->'only' ? event_name then return; end if;
  insert into audit_events (event_name, author_id, author_name, author_email, author_class, acts_as, ip_address, entity_type, entity_id, entity_path,
                            target_id, target_type, target_details, details)
  values (event_name, coalesce((actor->>'id')::bigint, -1), coalesce(actor->>'name', '(System)'), actor->>'email', coalesce(actor->>'class', 'System'),
          actor->>'as', (actor->>'ip')::inet, entity_type, entity_id, entity_path, target_id, target_type, target_details, details)
  returning * into event;
  if exists (select from hooks where event_type_filters is not null) then perform stream_audit_event(event); end if;
end $$;
