-- Clients raise it to have rendered texts made anew.
alter table application_settings add column local_markdown_version integer not null default 0;
