-- A runner of projects is of one at least, and whether a runner has a job is seen without reading those that it had.
create function remove_runners_without_projects() returns trigger language plpgsql as $$
begin
  delete from runners
   where id in (select runner_id from removed) and runner_type = 'project_type'
     and not exists (select from runner_projects where runner_id = runners.id);
  return null;
end $$;
create trigger remove_runners_without_projects after delete on runner_projects
  referencing old table as removed for each statement execute function remove_runners_without_projects();

create index commit_statuses_running_by_runner on commit_statuses using btree (runner_id)
  where runner_id is not null and status in ('running', 'canceling');
