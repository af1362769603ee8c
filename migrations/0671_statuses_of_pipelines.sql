-- outside a transaction
drop index concurrently if exists commit_statuses_of_pipeline;
create index concurrently commit_statuses_of_pipeline on commit_statuses (pipeline_id, id);
drop index concurrently if exists commit_statuses_current_of_pipeline;
create index concurrently commit_statuses_current_of_pipeline on commit_statuses (pipeline_id, status) where not retried;
drop index concurrently if exists commit_statuses_without_pipeline;
create index concurrently commit_statuses_without_pipeline on commit_statuses (id) where pipeline_id is null;
drop index concurrently if exists commit_statuses_in_order;
create index concurrently commit_statuses_in_order on commit_statuses (project_id, id);
drop index concurrently if exists commit_statuses_by_status;
create index concurrently commit_statuses_by_status on commit_statuses (project_id, status, id);
