-- The open issues of a project are the sum of its rows. Each change adds a row and waits for no other, so that transactions that change issues of several projects
-- in any order cannot deadlock; a job replaces the rows of a project by their sum.
create table open_issue_counts (
  id           bigint generated always as identity primary key,
  project_id   bigint not null references projects on delete cascade,
  opened       integer not null,
  -- How many of them are confidential.
  confidential integer not null
);
create index open_issue_counts_by_project on open_issue_counts (project_id) include (opened, confidential);

create function count_open_issues() returns trigger language plpgsql as $$
declare
  sign integer := case tg_op when 'INSERT' then 1 else -1 end;
begin
  -- With a whole project its counts go as well: it is gone already when its issues go.
  insert into open_issue_counts (project_id, opened, confidential)
  select project_id, sign * count(*), sign * count(*) filter (where confidential)
    from changed join projects on projects.id = changed.project_id where state = 'opened' group by project_id;
  return null;
end $$;
create trigger count_new_issues after insert on issues referencing new table as changed
  for each statement execute function count_open_issues();
create trigger count_deleted_issues after delete on issues referencing old table as changed
  for each statement execute function count_open_issues();

create function recount_open_issue() returns trigger language plpgsql as $$
begin
  insert into open_issue_counts (project_id, opened, confidential)
  select project_id, sum(sign), coalesce(sum(sign) filter (where confidential), 0)
    from (values (-1, old.project_id, old.state, old.confidential), (1, new.project_id, new.state, new.confidential)) side(sign, project_id, state, confidential)
   where state = 'opened' group by project_id;
  return null;
end $$;
-- For each row, because most changes of issues are none of their counts, and a trigger with transition tables cannot tell.
create trigger recount_changed_issue after update of project_id, state, confidential on issues for each row
  when ((old.project_id, old.state, old.confidential) is distinct from (new.project_id, new.state, new.confidential)) execute function recount_open_issue();

-- The triggers hold the table until the migration ends, so that no change is missed or counted twice.
insert into open_issue_counts (project_id, opened, confidential)
select project_id, count(*), count(*) filter (where confidential) from issues where state = 'opened' group by project_id;
