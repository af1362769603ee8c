-- Pipelines that run or wait, for the job that looks for those whose statuses have ended.
create index pipelines_open on pipelines (id) where status in ('pending', 'running');
