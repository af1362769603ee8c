-- Whether code is searched with the index, with git alone, or not at all.
alter table application_settings add column code_search text not null default 'on' check (code_search in ('on', 'git', 'off'));
