-- Snippets: some files under a title, of a project or of a user. The files are in a git repository of the snippet, on its only branch.
create table snippets (
  id          bigint generated always as identity primary key,
  project_id  bigint references projects on delete cascade,
  -- Of a personal snippet: the user, with whom it goes. Its author is the ghost user by then.
  user_id     bigint references users on delete cascade,
  author_id   bigint not null references users,
  title       text not null check (char_length(title) between 1 and 255),
  description text,
  visibility  text not null check (visibility in ('private', 'internal', 'public')),
  -- The git storage of the repository.
  storage     text not null,
  branch      text not null,
  -- The commit on the branch, and its files in git's order. Requests read what these columns say.
  commit_id   text not null check (commit_id ~ '^[0-9a-f]{40}$'),
  paths       text[] not null check (cardinality(paths) > 0),
  -- Of the repository on the disk; until it is measured, of the files.
  size_bytes  bigint not null check (size_bytes >= 0),
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  check (num_nonnulls(project_id, user_id) = 1)
);
create index snippets_by_project on snippets (project_id, id desc) where project_id is not null;
create index snippets_by_user on snippets (user_id) where user_id is not null;
create index snippets_by_author on snippets (author_id, id desc);
create index snippets_for_everyone on snippets (id desc) where project_id is null and visibility = 'public';

create table snippet_user_agents (
  snippet_id        bigint primary key references snippets on delete cascade,
  user_agent        text not null,
  ip_address        inet not null,
  akismet_submitted boolean not null default false
);

-- The journal of references that are about to move, of projects and of snippets.
alter table reference_updates alter column project_id drop not null;
alter table reference_updates
  add column snippet_id bigint references snippets on delete cascade,
  -- Columns of the snippet that change together with its files.
  add column snippet_changes jsonb,
  add constraint reference_updates_owner check (num_nonnulls(project_id, snippet_id) = 1);
create index reference_updates_by_snippet on reference_updates (snippet_id) where snippet_id is not null;

-- Repositories of snippets that do not exist, or not yet: a job deletes them.
create table unused_repositories (
  snippet_id bigint primary key,
  storage    text not null,
  since      timestamptz not null default now()
);
create index unused_repositories_by_age on unused_repositories (since);

-- Whatever takes the snippet away: itself, its project, its group, its user.
create function keep_unused_repository() returns trigger language plpgsql as $$
begin
  insert into unused_repositories (snippet_id, storage) select id, storage from removed;
  return null;
end $$;
create trigger keep_unused_repository after delete on snippets referencing old table as removed
  for each statement execute function keep_unused_repository();

alter table application_settings
  add column snippet_size_limit bigint not null default 52428800 check (snippet_size_limit >= 0);
