-- Read the tables without blocking writes.
alter table internal_ids validate constraint internal_ids_usage_check;
alter table commit_statuses validate constraint commit_statuses_pipeline_id_fkey;
