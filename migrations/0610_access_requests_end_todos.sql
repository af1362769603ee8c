-- However an access request ends, also with its user, nothing is left to decide: the to-do items of those who were asked are done.
create function end_todos_of_access_request() returns trigger language plpgsql as $$
begin
  update todos set state = 'done', updated_at = now() where access_request_id = old.id and state = 'pending';
  return old;
end $$;
create trigger end_todos before delete on access_requests for each row execute function end_todos_of_access_request();
