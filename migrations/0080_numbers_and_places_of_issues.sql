-- Numbers of issues that were removed. Counting never comes back to them, and with these nobody can choose one of them either.
create table removed_issue_numbers (
  project_id bigint not null references projects on delete cascade,
  iid        integer not null,
  primary key (project_id, iid)
);

create function keep_removed_issue_numbers() returns trigger language plpgsql as $$
begin
  -- With a whole project nothing has to be remembered: it is gone already when its issues go.
  insert into removed_issue_numbers (project_id, iid)
  select removed.project_id, removed.iid from removed join projects on projects.id = removed.project_id
  on conflict do nothing;
  return null;
end $$;
create trigger keep_removed_issue_numbers after delete on issues referencing old table as removed
  for each statement execute function keep_removed_issue_numbers();

-- An issue stands behind all older ones until somebody moves it. Positions lie far apart, so that many fit in between.
create function place_issue_last() returns trigger language plpgsql as $$
begin
  new.relative_position := new.id << 20;
  return new;
end $$;
create trigger place_issue_last before insert on issues
  for each row when (new.relative_position is null) execute function place_issue_last();
