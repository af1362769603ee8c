-- Where the recorded moves have left each branch and tag, for `check` to compare with the repositories.
create table recorded_refs (
  project_id bigint not null references projects (id) on delete cascade,
  -- In full, such as refs/heads/main.
  ref text not null,
  target text not null,
  -- The row of reference_updates that moved it: the effects of two moves may be written in another order than they happened.
  update_id bigint not null,
  primary key (project_id, ref)
);

-- Of a project that is older than this table, only the refs that have moved since are recorded.
alter table projects add column refs_recorded boolean not null default false;
alter table projects alter column refs_recorded set default true;
