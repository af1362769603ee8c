/** Hook events of milestones (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, momentInJson } from '../../../db/index.ts';
import { projectFacts, type Sample } from '../../activity/hooks/index.ts';
import { tellEach } from '../../instance/hook_events/index.ts';

/** @param which a predicate on rows of `milestones` */
const rowsOf = (which: RawBuilder<unknown>) => sql`
  select milestones.project_id, namespaces.traversal_ids as group_ids, milestones.id, milestones.iid, milestones.title, milestones.description,
         milestones.state, milestones.start_date, milestones.due_date, milestones.group_id, milestones.created_at, milestones.updated_at
    from milestones left join projects on projects.id = milestones.project_id
    join namespaces on namespaces.id = coalesce(milestones.group_id, projects.namespace_id) where ${which}`;

type Action = 'create' | 'close' | 'reopen' | 'delete';

const factsOf = (action: Action) => sql`json_build_object(
  'object_kind', 'milestone', 'event_type', 'milestone', 'action', ${sql.lit(action)}, 'project', ${projectFacts(sql`news.project_id`)},
  'object_attributes', json_build_object(
    'id', news.id, 'iid', news.iid, 'title', news.title, 'description', news.description, 'state', news.state, 'start_date', news.start_date,
    'due_date', news.due_date, 'project_id', news.project_id, 'group_id', news.group_id, 'created_at', ${momentInJson('news.created_at')},
    'updated_at', ${momentInJson('news.updated_at')}))`;

/** @param tx the transaction of the change; for a deleted milestone, before the deletion */
export const tellOfMilestone = (tx: Database, action: Action, id: number): Promise<void> =>
  tellEach(tx, {
    trigger: 'milestone_events',
    to_system: false,
    rows: rowsOf(sql`milestones.id = ${id}`),
    facts: factsOf(action),
  });

/** A sample: the newest milestone of a project, as if it had just been created. */
export const sampleMilestone: Sample = async (_services, { project_id }) => sql`
  (select ${factsOf('create')} from (${rowsOf(sql`milestones.project_id = ${project_id}`)} order by milestones.id desc limit 1) news)`;
