-- Requests of runners wait until a job comes: the database notifies the processes that hold them.
alter table application_settings
  add column ci_long_poll_seconds integer default 20 not null,
  add column ci_job_start_seconds integer default 120 not null,
  add column ci_job_silence_seconds integer default 600 not null,
  add constraint application_settings_ci_long_poll_seconds_check check (ci_long_poll_seconds between 0 and 50),
  add constraint application_settings_ci_job_start_seconds_check check (ci_job_start_seconds >= 10),
  add constraint application_settings_ci_job_silence_seconds_check check (ci_job_silence_seconds >= 60);
comment on column application_settings.ci_long_poll_seconds is 'Seconds that the request of a runner waits for a job; 0: it does not wait.';
comment on column application_settings.ci_job_start_seconds is 'Seconds after which a job waits again whose runner has said nothing of it.';
comment on column application_settings.ci_job_silence_seconds is 'Seconds after which a job fails whose runner is silent.';

create function notify_of_pending_job() returns trigger language plpgsql as $$
begin
  perform pg_notify('ci_queue', new.project_id::text);
  return null;
end
$$;
comment on function notify_of_pending_job() is 'Wakes runners that wait for jobs: one is there in this project.';

create function notify_of_runners() returns trigger language plpgsql as $$
begin
  perform pg_notify('ci_queue', '');
  return null;
end
$$;
comment on function notify_of_runners() is 'Wakes all runners that wait for jobs: it changes which ones they may take.';

create trigger notify_of_pending_job after update of status on commit_statuses for each row
  when (new.status = 'pending' and new.kind = 'job' and old.status <> 'pending') execute function notify_of_pending_job();
create trigger notify_of_runners after update of paused, tag_list, run_untagged, access_level, token_digest on runners for each row
  when ((new.paused, new.tag_list, new.run_untagged, new.access_level, new.token_digest) is distinct from (old.paused, old.tag_list, old.run_untagged, old.access_level, old.token_digest))
  execute function notify_of_runners();
create trigger notify_of_deleted_runners after delete on runners for each statement execute function notify_of_runners();
create trigger notify_of_assigned_runners after insert or delete on runner_projects for each statement execute function notify_of_runners();
create trigger notify_of_runners after update of shared_runners_enabled, group_runners_enabled, builds_access_level, archived, marked_for_deletion_at, namespace_id on projects for each row
  when ((new.shared_runners_enabled, new.group_runners_enabled, new.builds_access_level, new.archived, new.marked_for_deletion_at, new.namespace_id)
        is distinct from (old.shared_runners_enabled, old.group_runners_enabled, old.builds_access_level, old.archived, old.marked_for_deletion_at, old.namespace_id))
  execute function notify_of_runners();
create trigger notify_of_runners after update of shared_runners_setting, archived, marked_for_deletion_at, traversal_ids on namespaces for each row
  when ((new.shared_runners_setting, new.archived, new.marked_for_deletion_at, new.traversal_ids)
        is distinct from (old.shared_runners_setting, old.archived, old.marked_for_deletion_at, old.traversal_ids))
  execute function notify_of_runners();
