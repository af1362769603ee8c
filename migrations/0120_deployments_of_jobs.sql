-- Jobs deploy, too: their deployments follow them.
alter table deployments
  add column job_id bigint,
  add column on_stop text,
  drop constraint deployments_status_check,
  add constraint deployments_status_check check (status in ('created', 'blocked', 'running', 'success', 'failed', 'canceled', 'skipped')),
  add constraint deployments_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete set null;
create unique index deployments_of_job on deployments using btree (job_id) where job_id is not null;
comment on table deployments is 'Deployments of a commit to an environment, as jobs make them or external systems report them.';
comment on column deployments.job_id is 'The job that deploys; null for a deployment that an external system reported.';
comment on column deployments.on_stop is 'The name of the job of the same pipeline that stops the environment.';

alter table projects
  add column ci_forward_deployment_enabled boolean not null default true,
  add column ci_forward_deployment_rollback_allowed boolean not null default true,
  add column allow_pipeline_trigger_approve_deployment boolean not null default false;
comment on column projects.ci_forward_deployment_enabled is 'Whether a deployment fails that is older than the newest success of its environment.';
comment on column projects.ci_forward_deployment_rollback_allowed is 'Whether an older job that deploys may be tried again.';
comment on column projects.allow_pipeline_trigger_approve_deployment is 'Whether users may approve deployments of their own pipelines.';
