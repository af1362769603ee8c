-- How jobs of a project fetch its repository, how long they may take, and which caches they share.
alter table projects
  add column build_timeout integer not null default 3600,
  add column build_git_strategy text not null default 'fetch',
  add column ci_default_git_depth integer default 20,
  add column ci_separated_caches boolean not null default true,
  add constraint projects_build_timeout_check check (build_timeout between 600 and 2629746),
  add constraint projects_build_git_strategy_check check (build_git_strategy in ('clone', 'fetch')),
  add constraint projects_ci_default_git_depth_check check (ci_default_git_depth between 0 and 1000);
comment on column projects.build_timeout is 'Seconds that a job may take which does not say it itself.';
comment on column projects.build_git_strategy is 'Whether jobs may fetch into what an earlier one left, or clone.';
comment on column projects.ci_default_git_depth is 'How many commits jobs fetch which do not say it themselves; null and 0: all.';
comment on column projects.ci_separated_caches is 'Whether protected branches and tags have caches of their own.';
