set local lock_timeout = '5s';

create table repository_storage_moves (
  id                  bigint generated always as identity primary key,
  project_id          bigint references projects on delete cascade,
  snippet_id          bigint references snippets on delete cascade,
  group_id            bigint references namespaces on delete cascade,
  source_storage      text not null,
  destination_storage text not null,
  state               text not null default 'scheduled'
                      check (state in ('scheduled', 'started', 'replicated', 'finished', 'failed', 'cleanup failed')),
  error_message       text check (char_length(error_message) <= 255),
  -- How often it was begun: the third run that dies is the last.
  runs                integer not null default 0,
  created_at          timestamptz not null default now(),
  replicated_at       timestamptz,
  -- The repositories that have two copies since, as [{kind, id}].
  copied              jsonb not null default '[]',
  -- Until when a server has said that it still reads the old repository.
  used_until          timestamptz,
  check (num_nonnulls(project_id, snippet_id, group_id) = 1)
);
create index repository_storage_moves_of_projects on repository_storage_moves (created_at desc, id desc) where project_id is not null;
create index repository_storage_moves_of_snippets on repository_storage_moves (created_at desc, id desc) where snippet_id is not null;
create index repository_storage_moves_of_groups on repository_storage_moves (created_at desc, id desc) where group_id is not null;
create index repository_storage_moves_by_project on repository_storage_moves (project_id, created_at desc, id desc) where project_id is not null;
create index repository_storage_moves_by_snippet on repository_storage_moves (snippet_id, created_at desc, id desc) where snippet_id is not null;
create index repository_storage_moves_by_group on repository_storage_moves (group_id, created_at desc, id desc) where group_id is not null;
create index repository_storage_moves_under_way on repository_storage_moves (id) where state in ('scheduled', 'started', 'replicated');
create index repository_storage_moves_by_switch on repository_storage_moves (replicated_at) where replicated_at is not null;
-- What is being moved is not moved a second time.
create unique index repository_storage_moves_of_project on repository_storage_moves (project_id) where state in ('scheduled', 'started', 'replicated');
create unique index repository_storage_moves_of_snippet on repository_storage_moves (snippet_id) where state in ('scheduled', 'started', 'replicated');
create unique index repository_storage_moves_of_group on repository_storage_moves (group_id) where state in ('scheduled', 'started', 'replicated');

alter table application_settings
  add column repository_storage_move_limit integer not null default 1 check (repository_storage_move_limit between 1 and 16);

-- Raises an exception while the repositories of a project, snippet or group are being moved, and when they are not on the storage that the caller has just written to.
-- It locks the row of the container as foreign keys do; a move begins with a lock that excludes these, so what has passed here is part of the move.
create function refuse_while_container_moves(a_project bigint, a_snippet bigint, a_group bigint, used_storage text) returns void language plpgsql as $$
declare
  storage_now text;
begin
  if a_project is not null then select storage into storage_now from projects where id = a_project for key share;
  elsif a_snippet is not null then select storage into storage_now from snippets where id = a_snippet for key share;
  else select repository_storage into storage_now from namespaces where id = a_group for key share;
  end if;
  if storage_now <> used_storage or exists (
    select from repository_storage_moves
     where state = 'started' and (project_id = a_project or snippet_id = a_snippet or group_id = a_group))
  then
    raise exception using errcode = 'CPC01', message = 'The repository is temporarily read-only. Please try again later.';
  end if;
end $$;

-- The same for the owner of a repository.
create function refuse_while_moving(a_project bigint, a_snippet bigint, a_wiki bigint, used_storage text) returns void language plpgsql as $$
declare
  wiki record;
begin
  if a_wiki is null then
    perform refuse_while_container_moves(a_project, a_snippet, null, used_storage);
  else
    select project_id, group_id into wiki from wikis where id = a_wiki;
    perform refuse_while_container_moves(wiki.project_id, null, wiki.group_id, used_storage);
  end if;
end $$;

-- References do not move while their repository does. A writer names the storage that it has written objects to.
alter table reference_updates add column storage text;
create function keep_references_in_place() returns trigger language plpgsql as $$
begin
  perform refuse_while_moving(new.project_id, new.snippet_id, new.wiki_id, new.storage);
  return new;
end $$;
create trigger keep_references_in_place before insert on reference_updates
  for each row execute function keep_references_in_place();

create function keep_wiki_in_place() returns trigger language plpgsql as $$
begin
  perform refuse_while_container_moves(new.project_id, null, new.group_id, new.storage);
  return new;
end $$;
create trigger keep_wiki_in_place before insert on wikis for each row execute function keep_wiki_in_place();

-- What is being copied is not deleted.
create function keep_what_moves() returns trigger language plpgsql as $$
begin
  if old.state = 'started' then
    raise exception using errcode = 'CPC01', message = 'The repository is temporarily read-only. Please try again later.';
  end if;
  return old;
end $$;
create trigger keep_what_moves before delete on repository_storage_moves for each row execute function keep_what_moves();

-- A move has two copies of a repository, of which one is recorded here at any moment, and not due while the move needs it. When the owner goes, both are due.
create or replace function keep_unused_repository() returns trigger language plpgsql as $$
begin
  update unused_repositories set due_at = now() where kind = tg_argv[0] and id in (select id from removed);
  insert into unused_repositories (kind, id, storage, due_at) select tg_argv[0], id, storage, now() from removed
      on conflict (kind, id, storage) do update set due_at = now();
  return null;
end $$;
