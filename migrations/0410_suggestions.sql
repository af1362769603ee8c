-- Changes of lines that notes on the diff of a merge request propose.
create table suggestions (
  id           bigint primary key generated always as identity,
  note_id      bigint not null references notes on delete cascade,
  -- The lines that it replaces, around the line of the note's position.
  lines_above  integer not null check (lines_above between 0 and 100),
  lines_below  integer not null check (lines_below between 0 and 100),
  from_content text not null,
  to_content   text not null,
  -- A later version of the code has other lines there.
  outdated     boolean not null default false,
  -- The commit that applied it; null until then.
  commit_id    text check (commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$')
);
create index suggestions_in_order on suggestions (note_id, id);
