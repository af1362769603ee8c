-- Runners can be connected now, so pushes make pipelines on a new server. One that is in use keeps what it has: external systems may build what has a configuration.
alter table application_settings alter column pipelines_for_pushes set default true;
update application_settings set pipelines_for_pushes = true where not exists (select from projects);
