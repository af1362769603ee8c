-- Comments on commits. A commit has no row: its project and full id name it.
alter table notes
  add column project_id bigint references projects (id) on delete cascade,
  add column commit_id text check (commit_id ~ '^([0-9a-f]{40}|[0-9a-f]{64})$'),
  -- The place in a diff that the comment is about; replies have that of their thread.
  add column position jsonb,
  add column refers_to_project_id bigint references projects (id) on delete cascade,
  add column refers_to_commit_id text,
  drop constraint notes_have_one_noteable,
  drop constraint notes_type_check,
  add constraint notes_have_one_noteable check (num_nonnulls(issue_id, epic_id, commit_id) = 1),
  add constraint notes_type_check check (type in ('DiscussionNote', 'DiffNote')),
  add constraint notes_name_whole_commits check (num_nonnulls(project_id, commit_id) <> 1),
  add constraint notes_refer_to_whole_commits check (num_nonnulls(refers_to_project_id, refers_to_commit_id) <> 1),
  add constraint notes_on_diffs_have_positions check ((type is not distinct from 'DiffNote') = (position is not null));
create index notes_of_commit on notes (project_id, commit_id, created_at, id) where project_id is not null;
create index notes_starting_on_commit on notes (project_id, commit_id, created_at, id) where project_id is not null and starts_discussion;
create index notes_referring_to_commit on notes (refers_to_project_id) where refers_to_project_id is not null;
drop index notes_one_mention;
create unique index notes_one_mention
  on notes (issue_id, epic_id, refers_to_issue_id, refers_to_epic_id, refers_to_project_id, refers_to_commit_id)
  nulls not distinct where is_mention;

-- Nothing counts the comments on a commit.
create or replace function keep_user_notes_count() returns trigger language plpgsql as $$
declare
  change integer := case tg_op when 'INSERT' then 1 else -1 end;
  note notes := case tg_op when 'INSERT' then new else old end;
begin
  if note.issue_id is not null then
    update issues set user_notes_count = user_notes_count + change where id = note.issue_id;
  elsif note.epic_id is not null then
    update epics set user_notes_count = user_notes_count + change where id = note.epic_id;
  end if;
  return null;
end $$;

alter table todos
  add column commit_id text,
  add constraint todos_name_whole_commits check (commit_id is null or project_id is not null);
create index todos_on_commit on todos (project_id, commit_id, user_id) where commit_id is not null;
create unique index todos_one_pending_on_commit on todos (user_id, project_id, commit_id) where state = 'pending' and commit_id is not null;
