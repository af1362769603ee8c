-- An event is also told to whoever commits it, so that it becomes a line of the log (docs/reference/audit_events.md#log-lines). It arrives with the answer to the commit, and not if the transaction is rolled back.
create function tell_audit_event() returns trigger language plpgsql as $$
begin
  raise notice using errcode = 'CPA01', message = (to_jsonb(new) - '{chain,place,previous_hash,hash}'::text[])::text;
  return null;
end $$;
create constraint trigger tell_audit_event after insert on audit_events deferrable initially deferred for each row execute function tell_audit_event();
