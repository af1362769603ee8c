-- Jobs get files of jobs of other pipelines, which are found when they start.
create table job_dependencies (
  job_id bigint not null,
  dependency_id bigint not null,
  constraint job_dependencies_pkey primary key (job_id, dependency_id),
  constraint job_dependencies_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade,
  constraint job_dependencies_dependency_id_fkey foreign key (dependency_id) references commit_statuses(id) on delete cascade
);
create index job_dependencies_by_dependency on job_dependencies using btree (dependency_id);
comment on table job_dependencies is 'The jobs of other pipelines whose files a job that a runner holds may fetch.';
