-- An event says in which chain it is, because a restored database and a secondary may have it in another partition than the primary had.
alter table audit_events add column chain text;
comment on column audit_events.chain is 'The chain that the event is in, named like the partition into which it was written. Restored and replicated events may be in another partition.';
comment on column audit_events.place is 'The place in the chain, from 1; like the chain and the hashes, it is set when the transaction commits.';
comment on column audit_events.previous_hash is 'The hash of the event before in the chain; empty for the first one.';
comment on column audit_chains.partition is 'The name of the chain: that of the partition into which its events were written.';
comment on column audit_chains.dropped_at is 'When its events were dropped, because they had been kept long enough.';

alter table audit_events disable trigger keep_audit_event;
update audit_events set chain = tableoid::regclass::text;
alter table audit_events enable trigger keep_audit_event;
update audit_chains set first_at = coalesce((select min(created_at) from audit_events where chain = partition), first_at);

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
  update audit_events set chain = tg_table_name, place = event.place, previous_hash = event.previous_hash, hash = event.hash
    where created_at = event.created_at and id = event.id;
  update audit_chains set length = event.place, last_hash = event.hash, first_at = least(first_at, event.created_at), last_at = greatest(last_at, event.created_at)
    where partition = tg_table_name;
  return null;
end $$;
