-- What lists of merge requests show and sort by is kept as that of issues is (0075).
create or replace function keep_user_notes_count() returns trigger language plpgsql as $$
declare
  change integer := case tg_op when 'INSERT' then 1 else -1 end;
  note notes := case tg_op when 'INSERT' then new else old end;
begin
  if note.issue_id is not null then
    update issues set user_notes_count = user_notes_count + change where id = note.issue_id;
  elsif note.epic_id is not null then
    update epics set user_notes_count = user_notes_count + change where id = note.epic_id;
  elsif note.merge_request_id is not null then
    update merge_requests set user_notes_count = user_notes_count + change where id = note.merge_request_id;
  end if;
  return null;
end $$;

create or replace function keep_votes() returns trigger language plpgsql as $$
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
  elsif award.merge_request_id is not null then
    update merge_requests set upvotes = upvotes + up, downvotes = downvotes + down where id = award.merge_request_id;
  end if;
  return null;
end $$;

create trigger take_milestone_due_date_first before insert on merge_requests
  for each row when (new.milestone_id is not null) execute function take_milestone_due_date();
create trigger take_milestone_due_date before update of milestone_id on merge_requests
  for each row when (old.milestone_id is distinct from new.milestone_id) execute function take_milestone_due_date();

create or replace function give_milestone_due_date() returns trigger language plpgsql as $$
begin
  update issues set milestone_due_date = new.due_date where milestone_id = new.id;
  update merge_requests set milestone_due_date = new.due_date where milestone_id = new.id;
  return null;
end $$;

create function best_label_priority_of_merge_request(merge_request bigint, project bigint) returns integer language sql stable as $$
  select min(label_priorities.priority) from merge_request_labels join label_priorities using (label_id)
   where merge_request_labels.merge_request_id = merge_request and label_priorities.project_id = project
$$;

create function keep_label_priority_of_merge_requests() returns trigger language plpgsql as $$
begin
  update merge_requests set label_priority = best_label_priority_of_merge_request(id, project_id)
   where id in (select merge_request_id from changed join label_priorities using (label_id))
     and label_priority is distinct from best_label_priority_of_merge_request(id, project_id);
  return null;
end $$;
create trigger label_merge_requests after insert on merge_request_labels referencing new table as changed
  for each statement execute function keep_label_priority_of_merge_requests();
create trigger unlabel_merge_requests after delete on merge_request_labels referencing old table as changed
  for each statement execute function keep_label_priority_of_merge_requests();

create or replace function keep_label_priority_of_project() returns trigger language plpgsql as $$
declare
  priority label_priorities := case tg_op when 'DELETE' then old else new end;
begin
  update issues set label_priority = best_label_priority(issues.id, issues.project_id)
   where project_id = priority.project_id and id in (select issue_id from issue_labels where label_id = priority.label_id);
  update merge_requests set label_priority = best_label_priority_of_merge_request(id, project_id)
   where project_id = priority.project_id and id in (select merge_request_id from merge_request_labels where label_id = priority.label_id);
  return null;
end $$;
