-- Nobody has two to-dos waiting on one thing.
create unique index todos_one_pending_on_issue on todos (user_id, issue_id) where state = 'pending' and issue_id is not null;
create unique index todos_one_pending_on_epic on todos (user_id, epic_id) where state = 'pending' and epic_id is not null;

-- Deciding on a request ends what waits because of it, and so does whatever else removes it: somebody becomes a member, or is gone.
alter table todos add column access_request_id bigint references access_requests on delete set null;
create index todos_by_access_request on todos (access_request_id) where access_request_id is not null;

create function end_decided_todo() returns trigger language plpgsql as $$
begin
  new.state := 'done';
  new.updated_at := now();
  return new;
end $$;
create trigger end_decided_todo before update of access_request_id on todos
  for each row when (old.access_request_id is not null and new.access_request_id is null and old.state = 'pending') execute function end_decided_todo();
