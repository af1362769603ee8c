-- A thread on a merge request whose place a later version of the code no longer has: its position stays that of the version before, and is followed no further.
alter table notes add column outdated boolean not null default false;
