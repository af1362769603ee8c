-- Where a record came from, as issues, merge requests and events say already.
alter table notes add column imported_from text not null default 'none';
alter table epics add column imported_from text not null default 'none';
alter table snippets add column imported_from text not null default 'none';
