-- Evidence had the issues of all projects of a milestone's group, and those of trackers that not every reader of the evidence may see. They are taken out of what is stored; a note
-- says so, and the hash is that of the new text (docs/reference/releases.md#evidence).
create function pg_temp.with_member(object json, name text, member json) returns json language sql immutable as $$
  select json_object_agg(each.key, case when each.key = name then member else each.value end order by number)
    from json_each(object) with ordinality as each (key, value, number)
$$;

/* Whether everybody who may read the evidence of a project may read its issues. */
create function pg_temp.shows_issues(projects) returns boolean language sql stable as $$
  select $1.issues_access_level = 'enabled'
      or ($1.issues_access_level = 'private'
          and ($1.visibility = 'private' or $1.releases_access_level = 'private' or $1.repository_access_level = 'private'))
$$;

with shown as (
  select evidence.id, evidence.summary::json as summary, projects.id as project_id, pg_temp.shows_issues(projects) as shows
    from release_evidences evidence join releases on releases.id = evidence.release_id join projects on projects.id = releases.project_id
), wrong as (
  select shown.*,
         (select json_agg(pg_temp.with_member(milestone.value, 'issues', (
                   select coalesce(json_agg(issue.value order by issue.number), '[]')
                     from json_array_elements(milestone.value -> 'issues') with ordinality as issue (value, number)
                    where shows and exists (select from issues where issues.id = (issue.value ->> 'id')::bigint and issues.project_id = shown.project_id)))
                   order by milestone.number)
            from json_array_elements(summary -> 'release' -> 'milestones') with ordinality as milestone (value, number)) as milestones
    from shown
   where exists (
     select from json_array_elements(summary -> 'release' -> 'milestones') milestone, json_array_elements(milestone -> 'issues') issue
      where not shows or not exists (select from issues where issues.id = (issue ->> 'id')::bigint and issues.project_id = shown.project_id))
), mended as (
  select id, json_build_object(
           'release', pg_temp.with_member(summary -> 'release', 'milestones', milestones),
           'note', 'Issues that not every reader of this evidence may read were taken out of it after it was collected.')::text as summary
    from wrong
)
update release_evidences set summary = mended.summary, sha = encode(sha256(convert_to(mended.summary, 'UTF8')), 'hex')
  from mended where mended.id = release_evidences.id;
