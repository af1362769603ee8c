/** Hook events of milestones (docs/reference/hooks.md#events). */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { type Database, membersInJson, plainColumns, rowInJson } from '../../../db/index.ts';
import { DateOnly, Id, Iid, nullable, resource, Timestamp } from '../../../http/index.ts';
import { HookProject, presentProject, projectRow, type Sample, sampled } from '../../activity/hooks/index.ts';
import { hookEvent, newsOf, type Refs, tellEach } from '../../instance/hook_events/index.ts';

type Action = 'create' | 'close' | 'reopen' | 'delete';

const HookMilestone = Type.Object({
  id: Id,
  iid: Iid,
  title: Type.String(),
  description: nullable(Type.String()),
  state: Type.String(),
  start_date: nullable(DateOnly),
  due_date: nullable(DateOnly),
  project_id: nullable(Id),
  group_id: nullable(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const milestoneEvent = hookEvent({
  name: 'milestone',
  summary: 'A milestone was created, closed, reopened or deleted',
  triggers: ['milestone_events'],
  snapshot: (news: Refs<{ id: number; project_id: number | null; action: Action }>) => ({
    action: news.action,
    project: projectRow(news.project_id),
    milestone: rowInJson('milestones', news.id, membersInJson('milestones', HookMilestone.properties)),
  }),
  body: resource('MilestoneHookBody', {
    object_kind: Type.Literal('milestone'),
    event_type: Type.Literal('milestone'),
    action: Type.Enum(['create', 'close', 'reopen', 'delete']),
    project: nullable(HookProject),
    object_attributes: HookMilestone,
  }),
}).presentedBy(({ action, project, milestone }, services) => ({
  object_kind: 'milestone',
  event_type: 'milestone',
  action,
  project: project && presentProject(project, services),
  object_attributes: milestone,
}));

/** @param which a predicate on rows of `milestones`, and what may follow it */
const rowsOf = (action: Action, which: RawBuilder<unknown>) =>
  newsOf(
    {
      ...plainColumns('milestones', ['id', 'project_id']),
      group_ids: sql<number[]>`namespaces.traversal_ids`,
      action: sql<Action>`${action}::text`,
    },
    sql`
      from milestones left join projects on projects.id = milestones.project_id
      join namespaces on namespaces.id = coalesce(milestones.group_id, projects.namespace_id) where ${which}`,
  );

/** @param tx the transaction of the change; for a deleted milestone, before the deletion */
export const tellOfMilestone = (tx: Database, action: Action, id: number): Promise<void> =>
  tellEach(tx, milestoneEvent, rowsOf(action, sql`milestones.id = ${id}`));

/** A sample: the newest milestone of a project, as if it had just been created. */
export const sampleMilestone: Sample = async (_services, { project_id }) =>
  sampled(milestoneEvent, rowsOf('create', sql`milestones.project_id = ${project_id} order by milestones.id desc`));
