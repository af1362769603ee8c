/** A forge full of issues. */
import { fill } from './fill.ts';
import type { Instance } from './instance.ts';

export interface IssueSeed {
  /** Connection string of the instance's database. */
  database: string;
  /** One of the projects. */
  project: number;
  /** A group with half of the projects. */
  group: number;
  /** The other group, whose epics have no issues. */
  otherGroup: number;
  /** The iid of an issue of the project with 1,000 notes. */
  discussed: number;
}

const users = 1000;
const epics = 20;
/** Below the epics of the first group, together. */
const issuesOfEpics = 5000;

/** Alike in a small and a large database: what there is of each kind in a project grows with its issues. */
const tables = (count: number, projects: number) => `
  create temporary table places on commit drop as
    select id, row_number() over (order by id) - 1 as number, namespace_id from projects where path like 'many-%';
  create temporary table vocabulary on commit drop as
    select number, translate(left(md5(number::text), 4 + number % 5), '0123456789', 'ghijklmnop') as word from generate_series(0, 4999) number;
  create temporary table words on commit drop as
    select text.number, string_agg(word, ' ' order by place) as text
      from generate_series(0, 4999) text(number), generate_series(1, 18) place, vocabulary
     where vocabulary.number = (power((abs(hashint8(text.number * 100 + place)) % 100000) / 100000.0, 2) * 5000)::integer group by text.number;
  create index on words (number);
  insert into users (username, name, email) select 'worker-' || n, 'Worker ' || n, 'worker-' || n || '@example.com' from generate_series(1, ${users}) n;
  create temporary table workers on commit drop as select id, row_number() over (order by id) - 1 as number from users where username like 'worker-%';
  insert into labels (project_id, title, color) select places.id, 'label-' || n, '#6699cc' from places, generate_series(0, 19) n;
  insert into labels (group_id, title, color) select distinct places.namespace_id, 'shared-' || n, '#6699cc' from places, generate_series(0, 9) n;
  insert into milestones (project_id, iid, title, due_date) select places.id, n + 1, 'milestone-' || n, current_date + n * 7 - 40 from places, generate_series(0, 9) n;
  insert into label_priorities (project_id, label_id, priority)
    select project_id, id, right(title, 1)::integer from labels where title ~ '^label-[1-5]$';

  create temporary table drafts on commit drop as
    select n, places.id as project_id, places.number as place, n / ${projects} as turn, abs(hashint8(n)) as chance, abs(hashint8(n + 1000000007)) as other
      from generate_series(0, ${count} - 1) n join places on places.number = n % ${projects};

  create temporary table shelves on commit drop as
    select places.id as project_id, array_agg(labels.id order by labels.id) filter (where labels.project_id is not null) as own,
           array_agg(labels.id order by labels.id) filter (where labels.group_id is not null) as shared
      from places join labels on labels.project_id = places.id or labels.group_id = places.namespace_id group by 1;
  create temporary table labelled on commit drop as
    select distinct n, own[1 + (power((abs(hashint8(n * 5 + drawn)) % 1000) / 1000.0, 2) * 19)::integer] as label_id
      from drafts join shelves using (project_id), generate_series(1, chance % 4) drawn
    union all
    select n, shared[1 + other % 10] from drafts join shelves using (project_id) where other % 5 = 0;

  insert into issues (id, project_id, iid, title, description, state, issue_type, author_id, confidential, milestone_id, due_date, weight, relative_position,
                      closed_at, user_notes_count, upvotes, milestone_due_date, label_priority, created_at, updated_at)
    overriding system value
    select n + 1, drafts.project_id, turn + 1, 'Issue ' || n || ' ' || left(first.text, 40), '- [ ] ' || second.text,
           case when chance % 10 < 4 then 'opened' else 'closed' end, 'issue', workers.id, chance % 33 = 0, milestones.id,
           case when other % 5 = 1 then current_date + (chance / 100 % 400)::integer - 200 end, case when other % 10 < 3 then (chance / 1000 % 9)::integer end,
           (n + 1) << 20, case when chance % 10 >= 4 then now() end,
           case when chance % 2 = 0 then 1 else 0 end, case when other % 10 = 7 then chance % 20 else 0 end,
           milestones.due_date, ranked.priority, now() - interval '10 minutes' * (${count} - n), now() - interval '1 minute' * (other % 1000000)
      from drafts
      join words first on first.number = chance % 5000
      join words second on second.number = other % 5000
      join workers on workers.number = chance % ${users}
      left join milestones on milestones.project_id = drafts.project_id and milestones.title = 'milestone-' || (other % 10) and chance % 2 = 1
      left join (select n, min(priority) as priority from labelled left join label_priorities using (label_id) group by n) ranked using (n)
     order by n;
  select setval(pg_get_serial_sequence('issues', 'id'), ${count});
  insert into internal_ids (project_id, usage, last_value) select id, 'issues', ${count / projects} from places;
  insert into open_issue_counts (project_id, opened, confidential)
    select project_id, count(*), count(*) filter (where confidential) from issues where state = 'opened' group by project_id;
  insert into issue_labels (issue_id, label_id) select n + 1, label_id from labelled;
  insert into issue_assignees (issue_id, user_id)
    select n + 1, workers.id from drafts join workers on workers.number = (chance / 7) % ${users} where chance % 10 < 7;
  insert into notes (issue_id, discussion_id, body, author_id, created_at)
    select n + 1, md5(n::text) || '00000000', words.text, workers.id, now() - interval '1 minute' * (${count} - n)
      from drafts join words on words.number = other % 5000 join workers on workers.number = other % ${users} where chance % 2 = 0;
  insert into notes (issue_id, discussion_id, starts_discussion, type, body, author_id, created_at)
    select issues.id, md5('thread' || turn / 2) || '11111111', turn % 2 = 0, 'DiscussionNote', words.text, workers.id, now() - interval '1 second' * (1000 - turn)
      from generate_series(0, 999) turn join words on words.number = turn join workers on workers.number = turn % ${users}
      join issues on issues.iid = 1 and issues.project_id = (select min(id) from places);
  update issues set user_notes_count = counted.notes from (select issue_id, count(*) as notes from notes group by issue_id) counted
   where counted.issue_id = issues.id and iid = 1;
  insert into award_emoji (name, user_id, issue_id)
    select 'thumbsup', workers.id, issues.id from issues, generate_series(0, issues.upvotes - 1) vote
      join workers on workers.number = vote where issues.upvotes > 0;

  insert into epics (group_id, iid, title, author_id)
    select namespaces.id, n, 'Epic ' || n, workers.id from namespaces, generate_series(1, ${epics}) n join workers on workers.number = n
     where namespaces.id in (select namespace_id from places);
  insert into internal_ids (namespace_id, usage, last_value) select distinct namespace_id, 'epics', ${epics} from places;
  insert into epic_issues (epic_id, issue_id, relative_position)
    select epics.id, n + 1, n from drafts join places on places.id = drafts.project_id and places.number % 2 = 0
      join epics on epics.group_id = places.namespace_id and epics.iid = 1 + n / 2 % ${epics} where n < ${2 * issuesOfEpics};`;

const filled = ['issues', 'issue_labels', 'issue_assignees', 'notes', 'award_emoji'];

/**
 * Fills a fresh instance.
 * @param count how many issues, in projects of two groups
 */
export async function seedIssues(instance: Instance, count: number, projects = 100): Promise<IssueSeed> {
  const groups: number[] = [];
  for (const path of ['half', 'rest']) groups.push((await instance.api.post('/groups', { name: path, path })).body.id);
  const ids: number[] = [];
  for (let number = 0; number < projects; number++) {
    const created = await instance.api.post('/projects', { name: `many-${number}`, namespace_id: groups[number % 2] });
    ids.push(created.body.id);
  }
  const database = await fill(instance, filled, tables(count, projects));
  return { database, project: ids[0]!, group: groups[0]!, otherGroup: groups[1]!, discussed: 1 };
}
