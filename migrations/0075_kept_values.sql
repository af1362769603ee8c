-- Values that lists of issues show and sort by, kept beside the issue. Triggers keep them, so that no code path can forget one.
create function keep_user_notes_count() returns trigger language plpgsql as $$
declare
  change integer := case tg_op when 'INSERT' then 1 else -1 end;
  note notes := case tg_op when 'INSERT' then new else old end;
begin
  if note.issue_id is not null then
    update issues set user_notes_count = user_notes_count + change where id = note.issue_id;
  else
    update epics set user_notes_count = user_notes_count + change where id = note.epic_id;
  end if;
  return null;
end $$;
create trigger count_note after insert on notes for each row when (not new.system) execute function keep_user_notes_count();
create trigger uncount_note after delete on notes for each row when (not old.system) execute function keep_user_notes_count();

create function keep_votes() returns trigger language plpgsql as $$
declare
  change integer := case tg_op when 'INSERT' then 1 else -1 end;
  award award_emoji := case tg_op when 'INSERT' then new else old end;
  up integer := case award.name when 'thumbsup' then change else 0 end;
  down integer := case award.name when 'thumbsdown' then change else 0 end;
begin
  if award.issue_id is not null then
    update issues set upvotes = upvotes + up, downvotes = downvotes + down where id = award.issue_id;
  elsif award.epic_id is not null then
    update epics set upvotes = upvotes + up, downvotes = downvotes + down where id = award.epic_id;
  end if;
  return null;
end $$;
create trigger count_vote after insert on award_emoji for each row when (new.name in ('thumbsup', 'thumbsdown')) execute function keep_votes();
create trigger uncount_vote after delete on award_emoji for each row when (old.name in ('thumbsup', 'thumbsdown')) execute function keep_votes();

create function take_milestone_due_date() returns trigger language plpgsql as $$
begin
  new.milestone_due_date := (select due_date from milestones where id = new.milestone_id);
  return new;
end $$;
create trigger take_milestone_due_date_first before insert on issues
  for each row when (new.milestone_id is not null) execute function take_milestone_due_date();
create trigger take_milestone_due_date before update of milestone_id on issues
  for each row when (old.milestone_id is distinct from new.milestone_id) execute function take_milestone_due_date();

create function give_milestone_due_date() returns trigger language plpgsql as $$
begin
  update issues set milestone_due_date = new.due_date where milestone_id = new.id;
  return null;
end $$;
create trigger give_milestone_due_date after update of due_date on milestones
  for each row when (old.due_date is distinct from new.due_date) execute function give_milestone_due_date();

create function best_label_priority(issue bigint, project bigint) returns integer language sql stable as $$
  select min(label_priorities.priority) from issue_labels join label_priorities using (label_id)
   where issue_labels.issue_id = issue and label_priorities.project_id = project
$$;

create function keep_label_priority_of_issues() returns trigger language plpgsql as $$
begin
  update issues set label_priority = best_label_priority(issues.id, issues.project_id)
   where issues.id in (select issue_id from changed join label_priorities using (label_id))
     and label_priority is distinct from best_label_priority(issues.id, issues.project_id);
  return null;
end $$;
create trigger label_issues after insert on issue_labels referencing new table as changed
  for each statement execute function keep_label_priority_of_issues();
create trigger unlabel_issues after delete on issue_labels referencing old table as changed
  for each statement execute function keep_label_priority_of_issues();

create function keep_label_priority_of_project() returns trigger language plpgsql as $$
declare
  priority label_priorities := case tg_op when 'DELETE' then old else new end;
begin
  update issues set label_priority = best_label_priority(issues.id, issues.project_id)
   where project_id = priority.project_id and id in (select issue_id from issue_labels where label_id = priority.label_id);
  return null;
end $$;
create trigger prioritise_issues after insert or update or delete on label_priorities
  for each row execute function keep_label_priority_of_project();
