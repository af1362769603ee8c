-- A chain that begins anew after its partition was dropped says when.
create or replace function chain_audit_event() returns trigger language plpgsql as $$
declare
  chain audit_chains;
  event audit_events := new;
begin
  select * into chain from audit_chains where partition = tg_table_name and dropped_at is null for update;
  if not found then
    -- Whoever comes second waits here, and then finds the row.
    insert into audit_chains (partition, length, last_hash, first_at, last_at) values (tg_table_name, 0, '', event.created_at, event.created_at)
      on conflict (partition) do update set length = case when audit_chains.dropped_at is null then audit_chains.length else 0 end,
        last_hash = case when audit_chains.dropped_at is null then audit_chains.last_hash else '' end,
        first_at = case when audit_chains.dropped_at is null then audit_chains.first_at else excluded.first_at end, dropped_at = null
      returning * into chain;
  end if;
  event.place := chain.length + 1;
  event.previous_hash := chain.last_hash;
  event.hash := audit_hash(event.previous_hash, event);
  update audit_events set place = event.place, previous_hash = event.previous_hash, hash = event.hash where created_at = event.created_at and id = event.id;
  update audit_chains set length = event.place, last_hash = event.hash, last_at = greatest(last_at, event.created_at) where partition = tg_table_name;
  return null;
end $$;
