/** How milestones appear in replies (docs/reference/milestones.md). */
import { type Static, Type } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import { Address, DateOnly, Id, Iid, Markdown, nullable, optional, resource, Timestamp } from '../../../http/index.ts';

export const Milestone = resource('Milestone', {
  id: Id,
  iid: Iid,
  project_id: optional(Id),
  group_id: optional(Id),
  title: Type.String(),
  description: nullable(Markdown()),
  state: Type.Enum(['active', 'closed']),
  created_at: Timestamp,
  updated_at: Timestamp,
  due_date: nullable(DateOnly),
  start_date: nullable(DateOnly),
  expired: Type.Boolean({ description: 'Whether the due date is over' }),
  web_url: Address(),
});

/** A milestone as `milestoneRows` reads it. */
export interface MilestoneRow {
  id: number;
  iid: number;
  project_id: number | null;
  group_id: number | null;
  title: string;
  description: string | null;
  state: string;
  start_date: string | null;
  due_date: string | null;
  created_at: string;
  updated_at: string;
  expired: boolean;
  /** The full path of its project or group. */
  full_path: string;
}

const projectMilestonePage = pagePath('/:project/-/milestones/:milestone_iid');
const groupMilestonePage = pagePath('/groups/:group/-/milestones/:milestone_iid');

/** @param url the external address of the server */
export function presentMilestone(
  url: string,
  { full_path, project_id, group_id, state, ...row }: MilestoneRow,
): Static<typeof Milestone> {
  const page = project_id === null ? groupMilestonePage : projectMilestonePage;
  return {
    id: row.id,
    iid: row.iid,
    ...(project_id === null ? { group_id: group_id! } : { project_id }),
    title: row.title,
    description: row.description,
    state: state as 'active' | 'closed',
    created_at: row.created_at,
    updated_at: row.updated_at,
    due_date: row.due_date,
    start_date: row.start_date,
    expired: row.expired,
    web_url: url + page(full_path, row.iid),
  };
}
