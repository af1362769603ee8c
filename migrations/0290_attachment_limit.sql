-- The largest file that people can attach to a text, in MiB.
alter table application_settings
  add column max_attachment_size integer not null default 100 check (max_attachment_size >= 0);
