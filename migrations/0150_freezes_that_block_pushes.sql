-- Whether protected branches take no changes while one of the project's freeze periods is in force.
alter table projects add column freeze_blocks_pushes boolean not null default false;
