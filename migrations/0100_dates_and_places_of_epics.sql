alter table epics
  -- Among the children of its parent.
  add column relative_position    bigint,
  -- Of the milestones of its issues and of its children: the earliest start and the latest end. Kept by triggers.
  add column inherited_start_date date,
  add column inherited_due_date   date;

drop index epics_by_parent;
create index epics_of_parent_in_order on epics (parent_id, relative_position, id) where parent_id is not null;
create index epics_by_update on epics (group_id, updated_at, id);
create index epics_by_title on epics (group_id, lower(title), id);
create index epics_by_closer on epics (closed_by_id) where closed_by_id is not null;
create index epics_by_state on epics (group_id, state, created_at, id);
-- Without the group: a list is of many groups, and looking in each of them takes longer than looking once.
create index epics_search on epics using gin (title gin_trgm_ops, description gin_trgm_ops);

-- Whoever has an epic: the rows are locked first, and in order, so that what others are changing is seen by whoever comes second.
create function inherit_epic_dates(ids bigint[]) returns void language plpgsql as $$
begin
  if cardinality(ids) is null or cardinality(ids) = 0 then return; end if;
  perform from epics where id = any(ids) order by id for no key update;
  update epics set inherited_start_date = found.start_date, inherited_due_date = found.due_date
    from (select parent.id, least(of_issues.start_date, of_children.start_date) as start_date, greatest(of_issues.due_date, of_children.due_date) as due_date
            from epics parent,
                 lateral (select min(milestones.start_date) as start_date, max(milestones.due_date) as due_date
                            from epic_issues join issues on issues.id = epic_issues.issue_id join milestones on milestones.id = issues.milestone_id
                           where epic_issues.epic_id = parent.id) of_issues,
                 lateral (select min(case when start_date_is_fixed then start_date_fixed else inherited_start_date end) as start_date,
                                 max(case when due_date_is_fixed then due_date_fixed else inherited_due_date end) as due_date
                            from epics child where child.parent_id = parent.id) of_children
           where parent.id = any(ids)) found
   where epics.id = found.id and (epics.inherited_start_date, epics.inherited_due_date) is distinct from (found.start_date, found.due_date);
end $$;

create function keep_dates_by_epic_issues() returns trigger language plpgsql as $$
begin
  perform inherit_epic_dates(array(select distinct epic_id from changed));
  return null;
end $$;
create trigger inherit_dates_of_added after insert on epic_issues referencing new table as changed
  for each statement execute function keep_dates_by_epic_issues();
create trigger inherit_dates_without_removed after delete on epic_issues referencing old table as changed
  for each statement execute function keep_dates_by_epic_issues();

create function keep_dates_by_moved_issue() returns trigger language plpgsql as $$
begin
  perform inherit_epic_dates(array[old.epic_id, new.epic_id]);
  return null;
end $$;
create trigger inherit_dates_of_moved after update of epic_id on epic_issues
  for each row when (old.epic_id <> new.epic_id) execute function keep_dates_by_moved_issue();

create function keep_dates_by_issue() returns trigger language plpgsql as $$
begin
  perform inherit_epic_dates(array(select epic_id from epic_issues where issue_id = new.id));
  return null;
end $$;
create trigger inherit_dates_of_milestone after update of milestone_id on issues
  for each row when (old.milestone_id is distinct from new.milestone_id) execute function keep_dates_by_issue();

create function keep_dates_by_milestone() returns trigger language plpgsql as $$
begin
  perform inherit_epic_dates(array(select distinct epic_id from epic_issues join issues on issues.id = issue_id where milestone_id = new.id));
  return null;
end $$;
create trigger inherit_dates_of_changed_milestone after update of start_date, due_date on milestones
  for each row when ((old.start_date, old.due_date) is distinct from (new.start_date, new.due_date)) execute function keep_dates_by_milestone();

create function keep_dates_by_child() returns trigger language plpgsql as $$
declare
  parents bigint[] := case tg_op when 'INSERT' then array[new.parent_id] when 'DELETE' then array[old.parent_id] else array[old.parent_id, new.parent_id] end;
begin
  perform inherit_epic_dates(array(select distinct parent_id from unnest(parents) parent_id where parent_id is not null));
  return null;
end $$;
create trigger inherit_dates_of_new_child after insert on epics for each row when (new.parent_id is not null) execute function keep_dates_by_child();
create trigger inherit_dates_without_child after delete on epics for each row when (old.parent_id is not null) execute function keep_dates_by_child();
create trigger inherit_dates_of_child
  after update of parent_id, start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed, inherited_start_date, inherited_due_date on epics
  for each row when ((old.parent_id is not null or new.parent_id is not null)
    and (old.parent_id, old.start_date_is_fixed, old.start_date_fixed, old.due_date_is_fixed, old.due_date_fixed, old.inherited_start_date, old.inherited_due_date)
        is distinct from
        (new.parent_id, new.start_date_is_fixed, new.start_date_fixed, new.due_date_is_fixed, new.due_date_fixed, new.inherited_start_date, new.inherited_due_date))
  execute function keep_dates_by_child();

-- `is_blocked_by` is `blocks` the other way round.
create table epic_links (
  id         bigint generated always as identity primary key,
  source_id  bigint not null references epics on delete cascade,
  target_id  bigint not null references epics on delete cascade,
  link_type  text not null default 'relates_to' check (link_type in ('relates_to', 'blocks')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint epic_links_of_two check (source_id <> target_id)
);
-- Two epics have one link, whichever way it points.
create unique index epic_links_key on epic_links (least(source_id, target_id), greatest(source_id, target_id));
create index epic_links_by_source on epic_links (source_id, id);
create index epic_links_by_target on epic_links (target_id, id);

create index award_emoji_of_issue_in_order on award_emoji (issue_id, id) where issue_id is not null;
create index award_emoji_of_epic_in_order on award_emoji (epic_id, id) where epic_id is not null;
create index award_emoji_of_note_in_order on award_emoji (note_id, id) where note_id is not null;
