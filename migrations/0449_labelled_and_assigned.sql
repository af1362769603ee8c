-- Whether an issue has labels and assignees, by which lists are filtered: lists look for those without, which may be few, or come last in an order. Null in rows that are
-- older than the columns, until a job fills them.
alter table issues add column is_labelled boolean, add column is_assigned boolean;

-- The rows are locked by a statement of its own: so the next one sees what other transactions have changed until then.
create function keep_is_labelled() returns trigger language plpgsql as $$
begin
  perform from issues where id in (select issue_id from changed) order by id for no key update;
  update issues set is_labelled = exists (select from issue_labels where issue_id = issues.id)
   where id in (select issue_id from changed) and is_labelled is distinct from exists (select from issue_labels where issue_id = issues.id);
  return null;
end $$;
create trigger find_labelled_issues after insert on issue_labels referencing new table as changed
  for each statement execute function keep_is_labelled();
create trigger find_unlabelled_issues after delete on issue_labels referencing old table as changed
  for each statement execute function keep_is_labelled();

create function keep_is_assigned() returns trigger language plpgsql as $$
begin
  perform from issues where id in (select issue_id from changed) order by id for no key update;
  update issues set is_assigned = exists (select from issue_assignees where issue_id = issues.id)
   where id in (select issue_id from changed) and is_assigned is distinct from exists (select from issue_assignees where issue_id = issues.id);
  return null;
end $$;
create trigger find_assigned_issues after insert on issue_assignees referencing new table as changed
  for each statement execute function keep_is_assigned();
create trigger find_unassigned_issues after delete on issue_assignees referencing old table as changed
  for each statement execute function keep_is_assigned();
