-- Jobs leave bills of materials, too.
alter table dependency_files
  add column job_id bigint,
  add constraint dependency_files_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade;
create index dependency_files_of_jobs on dependency_files using btree (job_id) where job_id is not null;
comment on column dependency_files.job_id is 'The job that left the bill of materials; null for a file of the repository, and for one that was uploaded.';
