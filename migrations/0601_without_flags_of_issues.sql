-- Lists look for labels and assignees themselves. The columns stay while servers of the version before write them.
set local lock_timeout = '5s';
drop trigger find_labelled_issues on issue_labels;
drop trigger find_unlabelled_issues on issue_labels;
drop trigger find_assigned_issues on issue_assignees;
drop trigger find_unassigned_issues on issue_assignees;
drop function keep_is_labelled();
drop function keep_is_assigned();

-- A job that is gone filled them in. What is queued of it would wait forever.
do $$ begin
  if to_regclass('graphile_worker._private_jobs') is not null then
    delete from graphile_worker._private_jobs
     where task_id = (select id from graphile_worker._private_tasks where identifier = 'fill_issue_flags') and locked_at is null;
  end if;
end $$;
