-- Whoever starts a job gives it variables, and projects say who may do that, and who cancels.
create table job_variables (
  id bigint generated always as identity not null,
  job_id bigint not null,
  key text not null,
  value bytea not null,
  constraint job_variables_pkey primary key (id),
  constraint job_variables_key unique (job_id, key),
  constraint job_variables_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade
);
comment on table job_variables is 'Variables that whoever started a job gave it.';
comment on column job_variables.value is 'Encrypted.';

alter table projects
  add column ci_pipeline_variables_minimum_override_role text not null default 'developer',
  add column ci_restrict_pipeline_cancellation_role text not null default 'developer',
  add constraint projects_ci_pipeline_variables_minimum_override_role_check
    check (ci_pipeline_variables_minimum_override_role in ('no_one_allowed', 'owner', 'maintainer', 'developer')),
  add constraint projects_ci_restrict_pipeline_cancellation_role_check
    check (ci_restrict_pipeline_cancellation_role in ('developer', 'maintainer', 'no_one'));
comment on column projects.ci_pipeline_variables_minimum_override_role is 'Who may give variables to pipelines and jobs.';
comment on column projects.ci_restrict_pipeline_cancellation_role is 'Who may cancel pipelines and jobs.';
