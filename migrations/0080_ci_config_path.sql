set local lock_timeout = '5s';
alter table projects add column ci_config_path text,
  add constraint projects_ci_config_path_check check (char_length(ci_config_path) <= 255);
comment on column projects.ci_config_path is 'Where the configuration of pipelines is; null or blank: .gitlab-ci.yml of the commit that is built.';
