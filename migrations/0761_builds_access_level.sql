-- Who has the pipelines of a project. Statuses that other systems report are there whatever it says.
alter table projects add column builds_access_level text not null default 'enabled'
  constraint projects_builds_access_level_check check (builds_access_level in ('disabled', 'private', 'enabled'));
