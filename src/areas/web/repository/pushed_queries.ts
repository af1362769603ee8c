/** Branches that a visitor has just pushed, for which a merge request may be the next step. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** For how long a push is remembered. */
const remembered_hours = 3;
/** Of the last pushes, so that somebody with many costs no more; and the branches that are shown. */
const looked = 50;
const shown = 3;

/** A branch that was pushed. */
export interface PushedBranch {
  name: string;
  /** ISO 8601. */
  pushed_at: string;
}

/**
 * The branches of a project that a user pushed in the last hours, and that neither are in an open merge request nor were in one as they are now; the last one first.
 * @param default_branch is none of them
 */
export async function pushedBranches(
  db: Database,
  { user_id, project_id, default_branch }: { user_id: number; project_id: number; default_branch: string },
): Promise<PushedBranch[]> {
  const { rows } = await sql<PushedBranch>`
    with pushes as materialized (
      select id, project_id, created_at from events
       where author_id = ${user_id} and action = 'pushed' and created_at > now() - make_interval(hours => ${sql.lit(remembered_hours)})
       order by created_at desc, id desc limit ${sql.lit(looked)}),
    branches as (
      select distinct on (payload.ref) payload.ref as name, payload.action, payload.commit_to, pushes.id, pushes.created_at as pushed_at
        from pushes join push_event_payloads payload on payload.event_id = pushes.id
       where pushes.project_id = ${project_id} and payload.ref_type = 'branch' and payload.ref <> ${default_branch}
       order by payload.ref, pushes.id desc)
    select name, pushed_at from branches
     where action <> 'removed'
       and not exists (select from merge_requests
                        where source_project_id = ${project_id} and source_branch = branches.name
                          and (state in ('opened', 'locked') or head_commit_id = branches.commit_to))
     order by id desc limit ${sql.lit(shown)}`.execute(db);
  return rows;
}
