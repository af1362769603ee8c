-- Members may run the pipelines of merge requests from forks in the project that they are for.
alter table projects add column ci_allow_fork_pipelines_to_run_in_parent_project boolean not null default true;
comment on column projects.ci_allow_fork_pipelines_to_run_in_parent_project is 'Whether members may run pipelines of merge requests from forks here, with what is in the fork.';
