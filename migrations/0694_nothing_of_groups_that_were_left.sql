-- Projects and groups that were transferred kept milestones in releases, iterations of issues, and labels, milestones and iterations in the histories of these, which belong to groups
-- that they had left: their new members read what was written there, also later. As a transfer does from now on (docs/reference/projects.md#transfer): a label or milestone of the same
-- title stands for the former one, releases get copies of milestones, and everything else is treated as if it had been deleted.

/* Whether something of a group or project can be used in a place of these ancestors. */
create function pg_temp.is_usable(group_id bigint, owner bigint, ancestors bigint[], project bigint) returns boolean language sql immutable as $$
  select case when group_id is null then owner is not distinct from project else group_id = any(ancestors) end
$$;

-- Copies of the milestones of releases, where the project can use none of the title.
create temporary table foreign_milestones on commit drop as
select distinct on (releases.project_id, milestones.title) releases.project_id, milestones.id
  from release_milestones join releases on releases.id = release_id join milestones on milestones.id = milestone_id
  join projects on projects.id = releases.project_id join namespaces place on place.id = projects.namespace_id
 where not pg_temp.is_usable(milestones.group_id, milestones.project_id, place.traversal_ids, projects.id)
   and not exists (
     select from milestones there
      where there.title = milestones.title and pg_temp.is_usable(there.group_id, there.project_id, place.traversal_ids, projects.id))
 order by releases.project_id, milestones.title, milestones.id;

insert into internal_ids (project_id, usage, last_value)
select project_id, 'milestones', count(*) from foreign_milestones group by project_id
on conflict on constraint internal_ids_key do update set last_value = internal_ids.last_value + excluded.last_value;

insert into milestones (project_id, iid, title, description, state, start_date, due_date)
select copied.project_id, numbers.last_value + 1 - row_number() over (partition by copied.project_id order by former.id desc),
       title, description, state, start_date, due_date
  from foreign_milestones copied join milestones former on former.id = copied.id
  join internal_ids numbers on numbers.project_id = copied.project_id and numbers.usage = 'milestones';

-- What stands for the former ones.
create temporary table moved_milestones on commit drop as
select release_id, milestone_id,
       (select there.id from milestones there
         where there.title = milestones.title and pg_temp.is_usable(there.group_id, there.project_id, place.traversal_ids, projects.id)
         order by there.project_id is null, there.id limit 1) as new_id
  from release_milestones join releases on releases.id = release_id join milestones on milestones.id = milestone_id
  join projects on projects.id = releases.project_id join namespaces place on place.id = projects.namespace_id
 where not pg_temp.is_usable(milestones.group_id, milestones.project_id, place.traversal_ids, projects.id);
insert into release_milestones (release_id, milestone_id) select release_id, new_id from moved_milestones on conflict do nothing;
delete from release_milestones using moved_milestones moved
 where release_milestones.release_id = moved.release_id and release_milestones.milestone_id = moved.milestone_id;

update issues set iteration_id = null
  from projects join namespaces place on place.id = projects.namespace_id, iterations
 where projects.id = issues.project_id and iterations.id = issues.iteration_id and iterations.group_id <> all(place.traversal_ids);

delete from resource_iteration_events event
 using issues join projects on projects.id = issues.project_id join namespaces place on place.id = projects.namespace_id, iterations
 where issues.id = event.issue_id and iterations.id = event.iteration_id and iterations.group_id <> all(place.traversal_ids);

with past as (
  select event.id, labels.title, projects.id as project_id, place.traversal_ids
    from resource_label_events event join labels on labels.id = event.label_id
    left join issues on issues.id = event.issue_id left join merge_requests on merge_requests.id = event.merge_request_id left join epics on epics.id = event.epic_id
    left join projects on projects.id = coalesce(issues.project_id, merge_requests.project_id)
    join namespaces place on place.id = coalesce(projects.namespace_id, epics.group_id)
   where labels.group_id <> all(place.traversal_ids)
)
update resource_label_events event
   set label_id = (select there.id from labels there
                    where there.title = past.title and pg_temp.is_usable(there.group_id, there.project_id, past.traversal_ids, past.project_id)
                    order by there.project_id is null, there.id limit 1)
  from past where past.id = event.id;

create temporary table past_milestones on commit drop as
select event.id, (select there.id from milestones there
                   where there.title = milestones.title and pg_temp.is_usable(there.group_id, there.project_id, place.traversal_ids, projects.id)
                   order by there.project_id is null, there.id limit 1) as new_id
  from resource_milestone_events event join milestones on milestones.id = event.milestone_id
  left join issues on issues.id = event.issue_id left join merge_requests on merge_requests.id = event.merge_request_id
  join projects on projects.id = coalesce(issues.project_id, merge_requests.project_id) join namespaces place on place.id = projects.namespace_id
 where milestones.group_id <> all(place.traversal_ids);
update resource_milestone_events event set milestone_id = new_id from past_milestones past where past.id = event.id and new_id is not null;
delete from resource_milestone_events event using past_milestones past where past.id = event.id and new_id is null;
