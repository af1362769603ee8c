-- Tells the sums from the changes since, which are added up every two seconds.
alter table open_issue_counts add column is_sum boolean not null default false;
create index open_issue_counts_to_add_up on open_issue_counts (project_id) where not is_sum;

-- A job that is gone added them up every hour. What is queued of it would wait forever.
do $$ begin
  if to_regclass('graphile_worker._private_jobs') is not null then
    delete from graphile_worker._private_jobs
     where task_id = (select id from graphile_worker._private_tasks where identifier = 'add_up_open_issues') and locked_at is null;
  end if;
end $$;
