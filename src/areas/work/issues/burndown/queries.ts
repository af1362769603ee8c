/** The data of a milestone's burndown chart: when its issues were opened, closed and reopened. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { isVisibleIssue } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { type Caller, nullable, resource, Timestamp } from '../../../../http/index.ts';

export const BurndownEvent = resource('BurndownEvent', {
  created_at: Timestamp,
  weight: nullable(Type.Integer()),
  action: Type.Enum(['created', 'closed', 'reopened']),
});

interface BurndownRow {
  created_at: string;
  weight: number | null;
  action: 'created' | 'closed' | 'reopened';
}

/** The reply is one list; more points would not improve a chart. */
const maximumEvents = 50_000;

/** The events of the readable issues of a milestone until its last day, oldest first. */
export async function burndownEvents(
  db: Database,
  caller: Caller,
  { id, due_date }: { id: number; due_date: string | null },
): Promise<BurndownRow[]> {
  const { rows } = await sql<BurndownRow>`
    with mine as materialized (
      select issues.id, issues.created_at, weight from issues join projects on projects.id = issues.project_id
       where milestone_id = ${id} and ${isVisibleIssue(caller)})
    select * from (
      select created_at, weight, 'created' as action from mine
      union all
      select events.created_at, weight, events.state from resource_state_events events join mine on mine.id = events.issue_id
       where events.state in ('closed', 'reopened')) happened
     where ${due_date}::date is null or created_at < ${due_date}::date + 1
     order by created_at limit ${sql.lit(maximumEvents)}`.execute(db);
  return rows;
}
