-- What clients and our page offer as the description of a new issue (docs/reference/projects.md).
set local lock_timeout = '5s';
alter table projects add column issues_template text;
