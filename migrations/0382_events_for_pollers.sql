-- A transaction that records events announces a number which all their ids are above: those who poll with `after_id` are not shown what follows it before the
-- transaction has ended, so that no event appears behind one that they have seen. A statement's trigger fires before the first id is drawn. The setting ends
-- with the transaction, or is taken back with the savepoint, as is the lock.
create function announce_events() returns trigger language plpgsql as $$
begin
  if coalesce(current_setting('coppice.announced_events', true), '') = '' then
    perform pg_advisory_xact_lock_shared(726674, (select last_value - (not is_called)::int from events_id_seq)::bit(32)::int);
    perform set_config('coppice.announced_events', 'yes', true);
  end if;
  return null;
end $$;
create trigger announce_events before insert on events for each statement execute function announce_events();
